"""Statements that both kinds of database know, each in its own dialect."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite

INSERTS: dict[str, Callable[[Table], Any]] = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}


def insert(connection: Connection, table: Table) -> Any:
    """An insert that may say what to do on a conflict."""
    return INSERTS[connection.dialect.name](table)


def add_once(connection: Connection, table: Table, row: dict[str, Any]) -> None:
    """Add the row unless one with its key is there."""
    connection.execute(insert(connection, table).values(row).on_conflict_do_nothing())
