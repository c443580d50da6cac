"""Where this server keeps things and how patient it is: the environment, read once into one value."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec

DATABASE = "ticklab.sqlite3"
ORIGIN = re.compile(r"https?://(\*\.)?[A-Za-z0-9.\-]+(:\d{1,5})?")


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of a server.

    database_url    SQLAlchemy URL; None for the SQLite file in ``data``
    data            folder of this server's files
    command_seconds longest a single command to the engine worker may take
    start_seconds   longest the engine worker may take to load torch and the weights
    queue           commands that may wait for the worker before new ones are turned away
    most_sessions   pages that may be open at once; each takes less than a megabyte
    frame_ancestors sites that may show the lab in a frame, beside itself
    metrics         host:port where figures for Prometheus are shown; empty for nowhere
    free_play       whether the page for traces and settings of one's own is open
    """

    database_url: str | None = None
    data: Path
    command_seconds: float = 20.0
    start_seconds: float = 120.0
    queue: int = 128
    most_sessions: int = 1500
    frame_ancestors: str = ""
    metrics: str = ""
    free_play: bool = True


def read_settings(environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings that ``environment`` names (TICKLAB_DATABASE_URL, TICKLAB_DATA, …), else the defaults."""
    return Settings(
        database_url=environment.get("TICKLAB_DATABASE_URL") or None,
        data=Path(environment.get("TICKLAB_DATA") or user_data_folder(environment)),
        command_seconds=float(environment.get("TICKLAB_COMMAND_SECONDS") or 20),
        most_sessions=int(environment.get("TICKLAB_MOST_SESSIONS") or 1500),
        frame_ancestors=origins(environment.get("TICKLAB_FRAME_ANCESTORS") or ""),
        metrics=environment.get("TICKLAB_METRICS") or "",
        free_play=environment.get("TICKLAB_FREE_PLAY", "").strip().lower() not in ("false", "no", "off", "0"),
    )


@cache
def settings() -> Settings:
    """The settings of this process, read on first use."""
    return read_settings()


def origins(text: str) -> str:
    """Sites such as ``https://course.example``, separated by spaces. Raises ValueError for anything else."""
    for one in text.split():
        if not ORIGIN.fullmatch(one):
            raise ValueError(f"{one!r} is no site such as https://course.example")
    return " ".join(text.split())


def user_data_folder(environment: Mapping[str, str], platform: str = sys.platform) -> Path:
    """The folder this platform gives a program for its own files, for this user."""
    home = Path(environment.get("HOME") or Path.home())
    if platform == "win32":
        return Path(environment.get("LOCALAPPDATA") or home / "AppData" / "Local") / "ticklab"
    if platform == "darwin":
        return home / "Library" / "Application Support" / "ticklab"
    return Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share") / "ticklab"
