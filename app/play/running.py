"""A run through the ledger in slices, so that it can be stopped between two of them."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from decimal import Decimal

import msgspec

from app.play.experiment import Experiment, RunPlan
from app.play.sheet import MOST_DRAWN
from app.play.spec import Going
from engine import History, Metrics, Reason, Request, Service, Skim, TickRecord, simulate
from engine.exact import start_of
from engine.kv.pages import pages_for
from engine.measuring.progress import refusals
from engine.skimming.skimmer import Skimmer

SLICE = 0.05  # seconds
MOST_RECORDS = 2_000  # ticks of a run that is recorded whole
MOST_CELLS = 6_000  # requests × ticks of a picture
MOST_COLUMNS = 600  # ticks of a picture
MOST_PAGES = 4_000_000  # page numbers in the records of a run


class Outcome(msgspec.Struct, frozen=True):
    """What came of a run of ``ticks`` ticks. ``records`` are all of them, or the first few, or none."""

    plan: RunPlan
    metrics: Metrics
    ticks: int
    refused: dict[str, Reason]
    records: list[TickRecord]

    @property
    def whole(self) -> bool:
        """Whether every tick was recorded."""
        return len(self.records) == self.ticks

    @property
    def history(self) -> History:
        """The run as far as it was recorded."""
        plan = self.plan
        return History(plan.service, {request.id: request for request in plan.requests}, self.records)

    @property
    def drawn(self) -> int:
        """How many ticks of it a picture shows."""
        most = max(1, MOST_CELLS // len(self.plan.requests))
        return min(len(self.records), most, MOST_COLUMNS)


def run_all(experiment: Experiment) -> Generator[Going, None, list[Outcome]]:
    """Every run, one after the other. Raises Stalled."""
    outcomes = []
    for plan in experiment.runs:
        outcomes.append((yield from run(plan, experiment)))
    return outcomes


def run(plan: RunPlan, experiment: Experiment) -> Generator[Going, None, Outcome]:
    """One run: its figures from the skimmer, its first ticks from the ledger. Raises Stalled."""
    skim = yield from skim_slowly(plan.requests, plan.service, experiment.horizon, plan.title)
    metrics = skim.metrics(experiment.slo_ttft, experiment.slo_tpot)
    return Outcome(plan, metrics, skim.ticks, skim.refused, _records(plan, skim))


def recorded(plan: RunPlan, experiment: Experiment, records: Sequence[TickRecord]) -> Outcome:
    """A run of the torch engine, from what it has recorded."""
    by_id = {request.id: request for request in plan.requests}
    history = History(plan.service, by_id, list(records), experiment.horizon)
    metrics = history.metrics(experiment.slo_ttft, experiment.slo_tpot)
    return Outcome(plan, metrics, len(records), refusals(history), list(records))


def _records(plan: RunPlan, skim: Skim) -> list[TickRecord]:
    """All ticks of a run that is short, the first of one that is not; none of a crowd's, or of giants'."""
    ticks = skim.ticks if skim.ticks <= MOST_RECORDS else MOST_COLUMNS
    if len(plan.requests) > MOST_DRAWN or ticks * _most_pages(plan) > MOST_PAGES:
        return []
    if skim.ticks <= MOST_RECORDS:
        return skim.history().records
    return simulate(plan.requests, plan.service, start_of(MOST_COLUMNS, plan.service.tick)).records


def _most_pages(plan: RunPlan) -> int:
    """Pages (slots, where KV is contiguous) that a record of one tick may name."""
    service = plan.service
    size, pool = (service.page_size, service.pages) if service.kv_layout == "paged" else (1, service.slots)
    wanted = sum(pages_for(r.prompt_tokens + r.output_tokens, size) for r in plan.requests)
    return wanted if pool is None else min(wanted, pool)


def skim_slowly(
    requests: Sequence[Request], service: Service, horizon: Decimal | None, title: str
) -> Generator[Going, None, Skim]:
    """``skim``, tick by tick the same, but it yields where it is a few times a second. Raises Stalled."""
    skimmer = Skimmer(service, list(requests))
    for until, late in skimmer.spans(horizon):
        yield from _sliced(skimmer, until, late, title)
    return skimmer.skimmed(horizon)


def _sliced(skimmer: Skimmer, end: int | None, late: bool, title: str) -> Iterator[Going]:
    while not skimmer.idle and (end is None or skimmer.tick < end):
        skimmer.run(end, late=late, seconds=SLICE)
        yield Going(title, skimmer.tick)
