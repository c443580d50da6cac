"""Made-up rows for every table that a database has, whatever its version."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, Boolean, Connection, DateTime, Engine, Integer, MetaData, Table, select

MOMENT = datetime(2026, 3, 1, 9, 30, 15, 250_000, tzinfo=UTC)
Content = dict[str, list[dict[str, Any]]]


def made_up(column: Any, number: int) -> Any:
    """A value that fits the column, another one for each row."""
    if isinstance(column.type, JSON):
        return {"static.R02.ttft": number + 0.5, "字": ["é", None, True, 2**53 + 1, -0.0]}
    if isinstance(column.type, Boolean):
        return number % 2 == 0
    if isinstance(column.type, DateTime):
        return MOMENT.replace(minute=number % 60)
    if isinstance(column.type, Integer):
        return number + 1
    text = f"{number}·{column.name}·的\t\"'"
    return text[: column.type.length or len(text)]


def tables_of(connection: Connection) -> list[Table]:
    """The tables of the database as it stands, those that others refer to first."""
    found = MetaData()
    found.reflect(connection)
    return [table for table in found.sorted_tables if table.name != "alembic_version"]


def fill(engine: Engine, count: int) -> Content:
    """Put ``count`` rows into every table; what may be empty is so in the last. What is in them then."""
    with engine.begin() as connection:
        for table in tables_of(connection):
            for number in range(count):
                row = {column.name: made_up(column, number) for column in table.columns}
                if number == count - 1:
                    row = {c.name: row[c.name] for c in table.columns if not c.nullable or c.primary_key}
                connection.execute(table.insert().values(row))
    return content(engine)


def content(engine: Engine) -> Content:
    """Every row of every table in the order of its keys; moments in UTC."""
    with engine.connect() as connection:
        return {
            table.name: [
                {str(name): _same(value) for name, value in row.items()}
                for row in connection.execute(select(table).order_by(*table.primary_key)).mappings()
            ]
            for table in tables_of(connection)
        }


def _same(value: Any) -> Any:
    if not isinstance(value, datetime):
        return value
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
