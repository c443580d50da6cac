"""The tables of a database as they stand there, whatever its version, and their rows as plain values."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from sqlalchemy import JSON, Column, Connection, DateTime, MetaData, String, Table, event, inspect
from sqlalchemy.types import TypeEngine

from app.store import schema

EXACT: dict[type, Any] = {
    int: Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)],
    datetime: Annotated[datetime, Meta(tz=True)],
}
PLAIN: tuple[type, ...] = (bool, int, float, str, bytes, Decimal)  # what JSON has a form for, by msgspec


def tables_of(connection: Connection) -> list[Table]:
    """Our tables in this database, those that others refer to first. Tables of others are left alone."""
    there = [name for name in schema.metadata.tables if inspect(connection).has_table(name)]
    found = MetaData()
    event.listen(found, "column_reflect", _as_ours)
    found.reflect(connection, only=there)
    return found.sorted_tables


def _as_ours(_: Any, __: Any, column: Any) -> None:
    """Moments with their zone, on both databases; an absent JSON value as NULL where a column takes NULL,
    as JSON's own null where it does not: the tick of a lock step that was released."""
    if isinstance(column["type"], DateTime):
        column["type"] = schema.Moment()
    elif isinstance(column["type"], JSON):
        column["type"] = JSON(none_as_null=column["nullable"])


def row_type(table: Table) -> type[msgspec.Struct]:
    """The form that every row of ``table`` has in a backup: nothing is missing, nothing is too much."""
    fields = [(str(column.name), _type_of(column)) for column in table.columns]
    return msgspec.defstruct(f"Row_{table.name}", fields, forbid_unknown_fields=True)


def _type_of(column: Column[Any]) -> Any:
    if isinstance(column.type, JSON):
        return Any
    plain = _plain_type(column.type)
    found: Any = EXACT.get(plain, plain)
    if isinstance(column.type, String) and column.type.length:
        found = Annotated[str, Meta(max_length=column.type.length)]
    return found | None if column.nullable else found


def _plain_type(of: TypeEngine[Any]) -> type:
    """Raises TypeError for a type no backup can hold: then this module has to learn it first."""
    if isinstance(of, schema.Moment):
        return datetime
    kind = of.python_type
    if kind not in PLAIN:
        raise TypeError(f"no backup can hold {of!r}")
    return kind
