"""What the torch engine is asked to run, and what it is not: its context and the memory of a laptop."""

from __future__ import annotations

from fractions import Fraction

from app.play.experiment import Experiment, RunPlan
from app.play.sheet import MOST_DRAWN, Sheet
from app.play.spec import Prepared
from app.play.words import beyond
from app.worker import RunSpec
from engine.exact import first_tick
from engine.prompts import prompts_for

MOST_TICKS = 5_000
MOST_SLOTS = 8_192  # of the KV pool of one run: 16 MB


def prepared(experiment: Experiment, sheet: Sheet) -> Prepared:
    """Each run with prompts. Raises InputError where the torch engine cannot take it here."""
    runs = {plan.name: (plan.title, _spec(plan, sheet.engine)) for plan in experiment.runs}
    ends = [MOST_TICKS]
    if experiment.horizon is not None:
        longest = min(Fraction(plan.service.tick) for plan in experiment.runs)
        ends.append(first_tick(experiment.horizon, longest))
    return Prepared(runs, min(ends))


def _spec(plan: RunPlan, weights: str) -> RunSpec:
    if len(plan.requests) > MOST_DRAWN:
        raise beyond("drawn", plan.trace.name, requests=len(plan.requests), most=MOST_DRAWN)
    slots = plan.service.slots
    if slots is None:
        raise beyond("endless_pool", "pages", most=MOST_SLOTS)
    if slots > MOST_SLOTS:
        raise beyond("large_pool", "pages", slots=slots, most=MOST_SLOTS)
    return RunSpec(plan.service, tuple(prompts_for(plan.requests)), weights or "fp32")
