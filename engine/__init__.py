"""What happens: traces, scheduler, KV pages, ledger, torch engine, quantization, metrics.

    requests, service, records, reasons, history   the plain values that flow
    errors, complaints, words                      what is refused, told in any language
    traces, streams, prompts, files/               where requests come from; files in and out
    scheduling/   who does what in a tick, why the others do not, how long that can last
    kv/           which page is whose, and which texts begin alike
    ledger, replay, skimming/                      plans carried out by counting, and in a hurry
    serving/      the torch engine: plans carried out, tokens handed over, drafts, threads
    model/  kernels/  quantize/  training/         the decoder, its parts in slow motion, its formats
    measuring/    from records to lives, metrics, percentiles, SLO
    cli/  bench/                                   python -m engine

``import engine`` and ``simulate`` leave torch alone; ``Engine`` is loaded when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.errors import InputError, Stalled
from engine.history import History
from engine.kv.pages import PagePool
from engine.ledger import simulate
from engine.measuring.metrics import Metrics
from engine.records import Outcome, Plan, Reason, TickRecord
from engine.requests import Request
from engine.scheduling.explain import explain
from engine.scheduling.scheduler import Scheduler
from engine.service import Service
from engine.skimming.skimmer import Skim, skim

if TYPE_CHECKING:
    from engine.serving.engine import Engine

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
        from engine.serving.engine import Engine

        return Engine
    raise AttributeError(f"module 'engine' has no attribute {name!r}")
