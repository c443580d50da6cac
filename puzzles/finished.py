"""A finished run, read once: its metrics and the life of each request."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from engine import History, Metrics
from engine.progress import Life, lives


class Finished(msgspec.Struct, frozen=True):
    """A run whose every request has ended, with what is read off it again and again."""

    history: History
    metrics: Metrics
    lives: dict[str, Life]


def finished(histories: Mapping[str, History]) -> dict[str, Finished]:
    """Each run read once, by name."""
    return {name: Finished(one, one.metrics(), lives(one)) for name, one in histories.items()}
