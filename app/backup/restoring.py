"""Reading a file back into a database: all of it or nothing, and only after all of it was checked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import Connection, Engine, Integer, Table, exists, func, select, text
from sqlalchemy.exc import DataError, IntegrityError

from app.backup.checking import check, row_types, rows
from app.backup.errors import BackupError
from app.backup.tables import tables_of
from app.store.database import hold_alone, known_revisions, migrate, revision
from app.store.errors import StoreError

AT_ONCE = 500  # rows put in together


def restore(engine: Engine, path: Path, *, replace: bool = False) -> dict[str, int]:
    """Fill the database from ``path`` and bring it up to date; how many rows of each table.

    The database must have no rows, or ``replace`` gives them up. Raises BackupError, StoreError,
    SQLAlchemyError, OSError: then the database is as it was.
    """
    head, counts = check(path)
    found = revision(engine)
    if found is not None and found not in known_revisions():
        raise StoreError("newer", found)
    try:
        with engine.connect() as connection, connection.begin():
            _clear(connection, replace=replace)
            migrate(connection, head.revision)
            _fill(connection, path, head.revision)
            migrate(connection)
    except (IntegrityError, DataError) as error:
        raise BackupError("refused", file=path) from error
    return counts


def _clear(connection: Connection, *, replace: bool) -> None:
    """Take our tables away, while nobody else can write to them."""
    hold_alone(connection)
    tables = tables_of(connection)
    if connection.dialect.name == "postgresql" and tables:
        names = ", ".join(connection.dialect.identifier_preparer.format_table(table) for table in tables)
        connection.execute(text(f"lock table {names} in access exclusive mode"))
    if not replace and any(connection.execute(select(exists(select(table)))).scalar() for table in tables):
        raise BackupError("rows")
    for table in reversed(tables):
        table.drop(connection)
    connection.execute(text("drop table if exists alembic_version"))


def _fill(connection: Connection, path: Path, at: str) -> None:
    tables = {table.name: table for table in tables_of(connection)}
    for name, some in _batches(rows(path, row_types(at))):
        connection.execute(tables[name].insert(), some)
    if connection.dialect.name == "postgresql":
        for table in tables.values():
            _go_on_counting(connection, table)


def _batches(found: Iterator[tuple[str, Any]]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Rows of one table, some at a time."""
    batch: list[dict[str, Any]] = []
    last = ""
    for name, row in found:
        if batch and (name != last or len(batch) == AT_ONCE):
            yield last, batch
            batch = []
        last = name
        if row is not None:
            batch.append(msgspec.structs.asdict(row))
    if batch:
        yield last, batch


def _go_on_counting(connection: Connection, table: Table) -> None:
    """Let PostgreSQL's next number follow the highest that was put in; SQLite does so by itself."""
    for column in table.primary_key:
        if not isinstance(column.type, Integer):
            continue
        sequence = connection.execute(select(func.pg_get_serial_sequence(table.name, column.name))).scalar()
        if sequence:
            highest = connection.execute(select(func.max(column))).scalar()
            connection.execute(select(func.setval(sequence, highest or 1, highest is not None)))
