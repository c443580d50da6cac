"""Where this server keeps things and how patient it is: the environment, read once into one value."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec

DATABASE = "ticklab.sqlite3"


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of a server.

    database_url    SQLAlchemy URL; None for the SQLite file in ``data``
    data            folder of this server's files
    command_seconds longest a single command to the engine worker may take
    start_seconds   longest the engine worker may take to load torch and the weights
    queue           commands that may wait for the worker before new ones are turned away
    """

    database_url: str | None = None
    data: Path
    command_seconds: float = 20.0
    start_seconds: float = 120.0
    queue: int = 128


def read_settings(environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings that ``environment`` names (TICKLAB_DATABASE_URL, TICKLAB_DATA, …), else the defaults."""
    return Settings(
        database_url=environment.get("TICKLAB_DATABASE_URL") or None,
        data=Path(environment.get("TICKLAB_DATA") or user_data_folder(environment)),
        command_seconds=float(environment.get("TICKLAB_COMMAND_SECONDS") or 20),
    )


def user_data_folder(environment: Mapping[str, str], platform: str = sys.platform) -> Path:
    """The folder this platform gives a program for its own files, for this user."""
    home = Path(environment.get("HOME") or Path.home())
    if platform == "win32":
        return Path(environment.get("LOCALAPPDATA") or home / "AppData" / "Local") / "ticklab"
    if platform == "darwin":
        return home / "Library" / "Application Support" / "ticklab"
    return Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share") / "ticklab"
