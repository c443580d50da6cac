"""A run, read once: its metrics under the exercise's limits and the life of each request."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

import msgspec

from engine import History, Metrics
from engine.measuring.metrics import RequestMetrics
from engine.measuring.progress import Life, lives


class Promise(msgspec.Struct, frozen=True):
    """The limits a request is judged by, in seconds; None for no limit."""

    ttft: Decimal | None = None
    tpot: Decimal | None = None

    def met(self, one: RequestMetrics) -> bool:
        """Whether a finished request kept to them; a single token meets every limit on TPOT."""
        return one.status == "finished" and _within(one.ttft, self.ttft) and _within(one.tpot, self.tpot)


def _within(value: float | None, limit: Decimal | None) -> bool:
    return limit is None or value is None or Decimal(str(value)) <= limit


class Finished(msgspec.Struct, frozen=True):
    """A run to its end or its horizon, with what is read off it again and again."""

    history: History
    metrics: Metrics
    lives: dict[str, Life]
    limits: Promise


NO_PROMISE = Promise()


def finished(histories: Mapping[str, History], limits: Promise = NO_PROMISE) -> dict[str, Finished]:
    """Each run read once, by name."""
    return {name: read_once(one, limits) for name, one in histories.items()}


def read_once(history: History, limits: Promise) -> Finished:
    """One run, read."""
    return Finished(history, history.metrics(limits.ttft, limits.tpot), lives(history), limits)
