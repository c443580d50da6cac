"""Whether a file can be restored: looked at from its first line to its last before anything is written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import create_engine

from app.backup.errors import BackupError
from app.backup.file import FORMAT, Head, Title, decoded, foot_of, read
from app.backup.tables import row_type, tables_of
from app.store.database import known_revisions, migrate

TITLE = b'{"table":'


def check(path: Path) -> tuple[Head, dict[str, int]]:
    """Read the whole file; its head, and how many rows each table has. Raises BackupError, OSError."""
    head = head_of(path)
    counts: dict[str, int] = {}
    for name, row in rows(path, row_types(head.revision)):
        counts[name] = counts.get(name, 0) + (row is not None)
    if counts != foot_of(path).rows:
        raise BackupError("changed", file=path)
    return head, counts


def head_of(path: Path) -> Head:
    """The first line. Raises BackupError when the file is no backup, or one of a newer program; OSError."""
    with path.open("rb") as file:
        line = file.readline(1000)
    try:
        head = msgspec.json.decode(line, type=Head)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BackupError("foreign", file=path) from error
    if head.format != FORMAT:
        raise BackupError("foreign", file=path)
    if head.revision not in known_revisions():
        raise BackupError("newer", file=path, revision=head.revision)
    return head


def row_types(revision: str) -> dict[str, type[msgspec.Struct]]:
    """The form of a row of each table that a database of ``revision`` has."""
    engine = create_engine("sqlite://")
    with engine.connect() as connection, connection.begin():
        migrate(connection, revision)
        found = {str(table.name): row_type(table) for table in tables_of(connection)}
    engine.dispose()
    return found


def rows(path: Path, types: dict[str, type[msgspec.Struct]]) -> Iterator[tuple[str, Any]]:
    """Each row with the name of its table, in the order of the file; for a title a row of None.

    Raises BackupError for the first line that is not right.
    """
    name = ""
    for number, line in read(path):
        if line.startswith(TITLE):
            name = decoded(line, Title, path, number).table
            if name not in types:
                raise BackupError("table", file=path, line=number, table=name)
            yield name, None
        elif name:
            yield name, decoded(line, types[name], path, number)
        elif number > 1:
            raise BackupError("line", file=path, line=number, reason='expected {"table": …}')
