"""Runs of R01–R04 for tests that state its numbers."""

from __future__ import annotations

from typing import Any

import msgspec

from engine import History, Metrics, Request, Service, simulate
from engine.traces import main_trace

IDS = ("R01", "R02", "R03", "R04")


def run(horizon: object = None, trace: list[Request] | None = None, **settings: Any) -> History:
    """The main trace (or ``trace``) through the ledger under ``settings``."""
    return simulate(main_trace() if trace is None else trace, Service(**settings), horizon)


def counts(*rows: tuple[str, int, int]) -> list[Request]:
    """A trace of (arrival, prompt tokens, output tokens), with ids R01, R02, …"""
    return [Request(f"R{place:02}", *row) for place, row in enumerate(rows, 1)]


def changed(**changes: dict[str, Any]) -> list[Request]:
    """The main trace without prompts; ``R01={…}`` changes fields of that request."""
    return [msgspec.structs.replace(r, prompt=None, **changes.get(r.id, {})) for r in main_trace()]


def values(metrics: Metrics, name: str) -> list[float | None]:
    """One figure of every request, rounded to a ten-thousandth of a second."""
    found = [getattr(request, name) for request in metrics.requests.values()]
    return [None if value is None else round(value, 4) for value in found]


def figures(history: History) -> tuple[list[float | None], ...]:
    """TTFT, TPOT and E2E of every request."""
    return tuple(values(history.metrics(), name) for name in ("ttft", "tpot", "e2e"))
