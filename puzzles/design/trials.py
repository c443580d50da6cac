"""Running a design and its rivals by ledger, and their figures: for all requests and for each class."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import ceil
from time import sleep
from typing import Any

import msgspec

from engine import History, Outcome, Service, Skim, TickRecord, simulate
from engine import Plan as EnginePlan
from engine.ledger import Ledger
from engine.measuring.costs import costs_of
from engine.measuring.metrics import RequestMetrics, Summary
from engine.measuring.peaks import peaks_of
from engine.measuring.percentiles import nearest_rank
from engine.measuring.progress import lives
from puzzles.design.holding import Held, held
from puzzles.design.plan import Plan
from puzzles.design.task import Task, task

YOURS = "yours"
EVERYBODY = "all"
STRETCH = 4  # seconds in one row of the table over time


class Share(msgspec.Struct, frozen=True):
    """A class of requests in one run. Times in s; percentiles by nearest rank, None where there are none."""

    name: str
    count: int
    met: int
    p50_ttft: float | None
    p95_ttft: float | None
    p50_tpot: float | None
    p95_tpot: float | None

    @property
    def attainment(self) -> float:
        """Met of all that came."""
        return self.met / self.count


class Stretch(msgspec.Struct, frozen=True):
    """Some seconds of a run, from ``start``: who came, and the most that waited, were inside, held pages."""

    start: int
    arrived: int
    waiting: int
    active: int
    pages: int


class Trial(msgspec.Struct, frozen=True):
    """One design on the traffic of the task. ``missed`` are the ids that missed a limit."""

    name: str
    service: Service
    summary: Summary
    shares: dict[str, Share]
    held: tuple[Held, ...]
    missed: frozenset[str]
    stretches: tuple[Stretch, ...]

    @property
    def goodput(self) -> float:
        return self.summary.goodput or 0.0

    @property
    def attainment(self) -> float:
        return self.summary.attainment or 0.0


Trials = dict[str, Trial]


def trials(found: Task, plan: Plan) -> Trials:
    """The learner's design and every baseline, under the learner's limits."""
    ran = {YOURS: _run(found.seed, YOURS, found.service(plan.settings), plan)}
    for one in found.baselines:
        ran[one.name] = _run(found.seed, one.name, found.built(one.settings), plan)
    return ran


def _run(seed: int, name: str, service: Service, plan: Plan) -> Trial:
    return run(seed, name, service, float(plan.slo_ttft), float(plan.slo_tpot))


class Polite(Ledger):
    """The ledger, letting other threads in after every tick: a server computes this beside its event loop."""

    def execute(self, plan: EnginePlan) -> Outcome:
        sleep(0)
        return super().execute(plan)


class Ran(msgspec.Struct, frozen=True):
    """What one service did on the traffic of one seed, whatever the limits."""

    skim: Skim
    held: tuple[Held, ...]
    stretches: tuple[Stretch, ...]


@lru_cache(maxsize=512)
def served(seed: int, service: Service) -> Ran:
    """A run to the end, of which lives, sums and reasons are kept and the records dropped."""
    history = simulate(task(seed).requests, service, executor=Polite())
    ticks = len(history.records)
    peaks = peaks_of(history.records, service, ticks, ticks)
    kept = Skim(service, None, ticks, lives(history), peaks, costs_of(history.records))
    return Ran(kept, held(history.records), stretches(history))


@lru_cache(maxsize=512)
def run(seed: int, name: str, service: Service, slo_ttft: float, slo_tpot: float) -> Trial:
    """One trial; the same question is answered once, and other limits need no other run."""
    ran = served(seed, service)
    metrics = ran.skim.metrics(slo_ttft=slo_ttft, slo_tpot=slo_tpot)
    requests = list(metrics.requests.values())
    missed = frozenset(one.id for one in requests if not met(one, (slo_ttft, slo_tpot)))
    return Trial(
        name=name,
        service=service,
        summary=metrics.summary,
        shares=_shares(task(seed), requests, missed),
        held=ran.held,
        missed=missed,
        stretches=ran.stretches,
    )


def met(one: RequestMetrics, limits: tuple[float, float]) -> bool:
    """Whether a request kept both limits; a run to the end leaves nobody undecided."""
    if one.status != "finished" or one.ttft is None:
        return False
    return one.ttft <= limits[0] and (one.tpot is None or one.tpot <= limits[1])


def _shares(found: Task, requests: list[RequestMetrics], missed: frozenset[str]) -> dict[str, Share]:
    groups = {EVERYBODY: requests}
    for kind in found.classes:
        groups[kind.name] = [one for one in requests if one.id.startswith(kind.letter)]
    return {name: _share(name, members, missed) for name, members in groups.items()}


def _share(name: str, members: Sequence[RequestMetrics], missed: frozenset[str]) -> Share:
    ttft = [one.ttft for one in members if one.ttft is not None]
    tpot = [one.tpot for one in members if one.tpot is not None]
    return Share(
        name=name,
        count=len(members),
        met=sum(one.id not in missed for one in members),
        p50_ttft=_rank(ttft, 50),
        p95_ttft=_rank(ttft, 95),
        p50_tpot=_rank(tpot, 50),
        p95_tpot=_rank(tpot, 95),
    )


def _rank(values: list[float], percent: int) -> float | None:
    found = nearest_rank(values, percent)
    assert found is None or isinstance(found, float)  # nothing is censored: every run is run to its end
    return found


# ---- over time -----------------------------------------------------------------------------------------


def stretches(history: History) -> tuple[Stretch, ...]:
    """The run cut into pieces of STRETCH seconds."""
    length = ceil(STRETCH / history.service.tick)
    pool = history.service.pages
    starts = range(0, len(history.records), length)
    return tuple(_stretch(history.records[start : start + length], i, pool) for i, start in enumerate(starts))


def _stretch(records: Sequence[TickRecord], place: int, pool: Any) -> Stretch:
    return Stretch(
        start=place * STRETCH,
        arrived=sum(len(record.arrived) for record in records),
        waiting=max(len(record.waiting) for record in records),
        active=max(len(record.active) for record in records),
        pages=max(0 if record.free is None else pool - record.free - record.cached for record in records),
    )
