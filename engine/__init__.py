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

``import engine`` and ``simulate`` leave torch alone; ``Engine`` and ``FrontDoor`` (many threads, or an event
loop, share one engine) are loaded when they are first used.

Where to begin: ``simulate(load_trace("my.csv").requests, Service(...))`` gives a ``History``; its
``records`` say what happened in each tick, ``explain(record, id)`` why somebody did not get on, ``metrics``
how long everybody took. ``skim`` gives the metrics of a long trace without records; ``streams`` makes
traces. An admission policy of one's own is a function (``scheduling.policies.Admission``), a draft of
one's own an object (``serving.speculation.Draft``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.errors import InputError, Stalled
from engine.files.trace_files import load_trace
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
    from engine.serving.front_door import FrontDoor

__all__ = [
    "Engine",
    "FrontDoor",
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
    "load_trace",
    "simulate",
    "skim",
]


def __getattr__(name: str) -> Any:
    if name == "Engine":
        from engine.serving.engine import Engine

        return Engine
    if name == "FrontDoor":
        from engine.serving.front_door import FrontDoor

        return FrontDoor
    raise AttributeError(f"module 'engine' has no attribute {name!r}")
