"""A run as a command shows it: its figures, and its records where they are wanted."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from engine.files.trace_files import TraceFile
from engine.history import History
from engine.measuring.metrics import Metrics
from engine.measuring.progress import refusals
from engine.records import Reason
from engine.service import Service

MOST_RECORDS = 1_000_000
Limits = dict[str, str | None]


@dataclass(frozen=True)
class Shown:
    """``limits`` are the texts of the flags. ``history`` is None where no records were kept."""

    trace: TraceFile
    service: Service
    horizon: Decimal | None
    limits: Limits
    metrics: Metrics
    refused: dict[str, Reason]
    history: History | None


def recorded(trace: TraceFile, history: History, limits: Limits) -> Shown:
    """A run of which every tick was recorded."""
    metrics = history.metrics(**limits)
    return Shown(trace, history.service, history.horizon, limits, metrics, refusals(history), history)
