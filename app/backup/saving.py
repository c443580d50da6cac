"""Reading a database into a file, as it is at one moment, while others go on writing."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import Connection, Engine, Table, select

from app.backup.errors import BackupError
from app.backup.file import FORMAT, Foot, Head, Title, write
from app.backup.tables import row_type, tables_of
from app.store.database import revision

AT_ONCE = 500  # rows held in memory


def backup(engine: Engine, path: Path) -> dict[str, int]:
    """Write everything in the database to ``path``; how many rows of each table.

    Changes nothing in the database. Raises BackupError, StoreError, SQLAlchemyError, OSError.
    """
    found = revision(engine)
    if found is None:
        raise BackupError("nothing")
    counts: dict[str, int] = {}
    with engine.connect() as connection:
        _hold_still(connection)
        write(path, _lines(connection, found, counts))
    return counts


def _hold_still(connection: Connection) -> None:
    """Let all tables be read as of one moment."""
    if connection.dialect.name == "postgresql":
        connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
    else:
        connection.exec_driver_sql("BEGIN")


def _lines(connection: Connection, found: str, counts: dict[str, int]) -> Iterator[bytes]:
    digest = hashlib.sha256()
    for value in _values(connection, found, counts):
        line = msgspec.json.encode(value)
        digest.update(line + b"\n")
        yield line
    yield msgspec.json.encode(Foot(counts, digest.hexdigest()))


def _values(connection: Connection, found: str, counts: dict[str, int]) -> Iterator[Any]:
    yield Head(FORMAT, found, datetime.now(UTC))
    for table in tables_of(connection):
        name = str(table.name)
        yield Title(name)
        counts[name] = 0
        for row in _rows(connection, table):
            counts[name] += 1
            yield row


def _rows(connection: Connection, table: Table) -> Iterator[dict[str, Any]]:
    row_type(table)  # a column that no backup can hold is told now, not when it has to be restored
    asked = select(table).order_by(*table.primary_key)
    for row in connection.execution_options(yield_per=AT_ONCE).execute(asked).mappings():
        yield {str(name): value for name, value in row.items()}
