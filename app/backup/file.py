"""The file: JSON lines. A head, for each table its name and its rows, a foot that proves it whole.

{"format": "ticklab-backup-1", "revision": "0002", "made": "2026-03-01T09:30:00Z"}
{"table": "attempts"}
{"learner": "…", "exercise": "main", "attempt": 1, …}
…
{"rows": {"attempts": 40, …}, "sha256": "…"}          of all bytes before this line
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import TypeVar

import msgspec

from app.backup.errors import BackupError

Kind = TypeVar("Kind")
FORMAT = "ticklab-backup-1"
LONGEST = 16_000_000  # bytes of one line; no row of ours comes near


class Head(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``revision`` is the migration at which the database stood, ``made`` when it was read."""

    format: str
    revision: str
    made: datetime


class Title(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Begins the rows of a table."""

    table: str


class Foot(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many rows each table has, and the digest of all lines before this one."""

    rows: dict[str, int]
    sha256: str


def write(path: Path, lines: Iterable[bytes]) -> None:
    """Make ``path`` of ``lines`` (without their ends), for this user only, whole or not at all.

    Raises BackupError when it is there already, OSError.
    """
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as out:
            for line in lines:
                out.write(line + b"\n")
            out.flush()
            os.fsync(out.fileno())
        os.link(draft, path)
    except FileExistsError as error:
        raise BackupError("exists", file=path) from error
    finally:
        draft.unlink(missing_ok=True)


def read(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of ``path`` before its foot with their numbers, from 1.

    Raises BackupError, at the latest at the end, when the file is not as it was written; OSError.
    """
    digest = hashlib.sha256()
    before: bytes | None = None
    number = 0
    with path.open("rb") as file:
        while line := file.readline(LONGEST):
            if not line.endswith(b"\n"):
                raise BackupError("cut", file=path, line=number + 1)
            if before is not None:
                digest.update(before)
                yield number, before[:-1]
            before = line
            number += 1
    if before is None:
        raise BackupError("foreign", file=path)
    foot = decoded(before, Foot, path, number)
    if foot.sha256 != digest.hexdigest():
        raise BackupError("changed", file=path)


def foot_of(path: Path) -> Foot:
    """The last line. Raises BackupError, OSError."""
    last, number = b"", 0
    with path.open("rb") as file:
        while line := file.readline(LONGEST):
            last, number = line, number + 1
    return decoded(last, Foot, path, number)


def decoded(line: bytes, kind: type[Kind], path: Path, number: int) -> Kind:
    """``line`` as ``kind``. Raises BackupError, which says where and what would be right."""
    try:
        return msgspec.json.decode(line, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BackupError("line", file=path, line=number, reason=error) from error
