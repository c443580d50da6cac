"""What happens: traces, scheduler, KV pages, ledger, torch engine, quantization, metrics.

``import engine`` and ``simulate`` leave torch alone; ``Engine`` is loaded when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.errors import InputError, Stalled
from engine.explain import explain
from engine.history import History
from engine.ledger import simulate
from engine.metrics import Metrics
from engine.pages import PagePool
from engine.records import Outcome, Plan, Reason, TickRecord
from engine.requests import Request
from engine.scheduler import Scheduler
from engine.service import Service
from engine.skimmer import Skim, skim

if TYPE_CHECKING:
    from engine.engine import Engine

__all__ = [
    "Engine",
    "History",
    "InputError",
    "Metrics",
    "Outcome",
    "PagePool",
    "Plan",
    "Reason",
    "Request",
    "Scheduler",
    "Service",
    "Skim",
    "Stalled",
    "TickRecord",
    "explain",
    "simulate",
    "skim",
]


def __getattr__(name: str) -> Any:
    if name == "Engine":
        from engine.engine import Engine

        return Engine
    raise AttributeError(f"module 'engine' has no attribute {name!r}")
