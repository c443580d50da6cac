"""Telling an event: a sentence of the catalogue, in the language of the terminal."""

from __future__ import annotations

import logging
import os
import time
from functools import cache
from pathlib import Path

from sqlalchemy.engine import URL

from app.store.errors import StoreError
from app.words import terminal_language
from engine.words import Catalogue, catalogue

logger = logging.getLogger("ticklab")
logger.setLevel(logging.INFO)  # whatever the level of all others

SPARING = 60.0  # seconds within which an event that many cause is told once
_told: dict[str, float] = {}


@cache
def words() -> Catalogue:
    """The sentences of the journal."""
    return catalogue(Path(__file__).parent, terminal_language(os.environ))


def tell(key: str, level: int = logging.INFO, *, sparing: bool = False, **values: object) -> None:
    """Write the sentence of ``key``. ``sparing``: at most once a minute, for what anybody can cause."""
    now = time.monotonic()
    if sparing and now - _told.get(key, float("-inf")) < SPARING:
        return
    _told[key] = now
    logger.log(level, words()(key, **values))


def place_of(url: URL) -> str:
    """Where a database is, in words: no user and no password."""
    if url.get_backend_name() == "sqlite":
        return words()("place.sqlite", file=url.database or ":memory:")
    return words()("place.postgresql", name=url.database or "", host=url.host or "localhost")


def cause_of(error: StoreError) -> str:
    """What is wrong with the database and what to do, in one or two sentences for whoever runs the server."""
    return words()(f"cause.{error.code}", detail=error.detail or error.code)
