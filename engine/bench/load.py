"""Loads served by the clock: what a request waits in wall-clock seconds, everything counted."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from engine.bench.timing import mean
from engine.model.transformer import Transformer
from engine.prompts import prompts_for
from engine.records import TickRecord
from engine.requests import Request
from engine.service import Service
from engine.serving.engine import Engine

SLOTS = 8
SERVICE = Service(
    prefill_budget=256,
    decode_slots=SLOTS,
    max_active=SLOTS,
    batch_size=SLOTS,
    page_size=16,
    pages=128,
)
"""Eight slots; a tick takes many prompts; more pages than eight requests of the load need."""


def load(*, mixed: bool = True) -> list[Request]:
    """Twenty requests at time 0, four of prompt 128 / output 64 and sixteen of 16 / 16.

    ``mixed``: every fifth is long; else the long ones come first, which suits whoever batches neighbours.
    """
    long = [place % 5 == 0 if mixed else place < 4 for place in range(20)]
    return requests_of((128, 64) if is_long else (16, 16) for is_long in long)


def requests_of(sizes: Any, seed: int = 0) -> list[Request]:
    """Requests R01, R02 … at time 0 of the given sizes (prompt, output), with prompts."""
    bare = (Request(f"R{place:02}", Decimal(0), *size) for place, size in enumerate(sizes, 1))
    return prompts_for(bare, seed)


@dataclass
class Served:
    """One run: its records, and for each the seconds from the first submit to the end of the tick."""

    records: list[TickRecord] = field(default_factory=list)
    clock: list[float] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """From the first submit to the end of the last tick."""
        return self.clock[-1]

    @property
    def forward(self) -> float:
        """Seconds of the executor's work."""
        return sum(record.work.ms for record in self.records if record.work) / 1000

    @property
    def emitted(self) -> int:
        """Output tokens of all requests."""
        return sum(len(record.emitted) for record in self.records)

    @property
    def ttft(self) -> list[float]:
        """Seconds from the start of the tick of arrival to the first token, per request."""
        arrived = self.arrivals()
        return [moments[0] - arrived[key] for key, moments in self.moments().items()]

    @property
    def tpot(self) -> list[float]:
        """Seconds per token after the first, per request of two tokens or more."""
        several = [moments for moments in self.moments().values() if len(moments) > 1]
        return [(moments[-1] - moments[0]) / (len(moments) - 1) for moments in several]

    def arrivals(self) -> dict[str, float]:
        """Per request, when the tick began in which it arrived."""
        starts = [0.0, *self.clock]
        return {
            key: start for record, start in zip(self.records, starts, strict=False) for key in record.arrived
        }

    def moments(self) -> dict[str, list[float]]:
        """Per request, when each of its tokens was there."""
        found: dict[str, list[float]] = {}
        for record, moment in zip(self.records, self.clock, strict=True):
            for key, _, _ in record.emitted:
                found.setdefault(key, []).append(moment)
        return found

    def tokens(self) -> dict[str, list[int | None]]:
        """Per request, its output."""
        found: dict[str, list[int | None]] = {}
        for record in self.records:
            for key, _, token in record.emitted:
                found.setdefault(key, []).append(token)
        return found


def serve(
    model: Transformer, service: Service, requests: Sequence[Request], *, exact: bool = False, **changes: Any
) -> Served:
    """Serve ``requests``, all submitted before the first tick, with a fresh engine, by the clock.

    ``changes`` go to the engine. What an engine does once, before it serves, is not counted.
    """
    engine = Engine(service, exact=exact, model=model, **changes)
    served = Served()
    began = time.perf_counter()
    for request in requests:
        engine.submit(
            request.prompt or "", request.output_tokens, request_id=request.id, arrival=request.arrival
        )
    engine.close()
    while engine.live:
        served.records.append(engine.step())
        served.clock.append(time.perf_counter() - began)
    return served


def mean_ttft(run: Served) -> float:
    """Mean seconds to the first token over the requests."""
    return mean(run.ttft)


def mean_tpot(run: Served) -> float:
    """Mean over requests of the seconds per token after the first."""
    return mean(run.tpot)
