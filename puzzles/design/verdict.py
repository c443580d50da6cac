"""What came of it: the prediction against the run, who paid, what held whom, from the reasons recorded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from engine.words import Catalogue
from puzzles.design.checking import Offered, offered
from puzzles.design.plan import Plan
from puzzles.design.task import Task
from puzzles.design.trials import YOURS, Trial, Trials
from puzzles.design.variables import VARIABLES, passed
from puzzles.words import number, plain

SAME = 0.05  # of attainment: nearer than this, both classes did alike
NEAR = 0.10  # of a goodput: a prediction so near is right
NEAR_TIME = 0.25  # of W
LOOSE, STRICT = 0.9, 0.1  # attainment of every design: then the limits separate nothing
MOST_REASONS = 3


class Judged(msgspec.Struct, frozen=True):
    """One prediction: what was said, what it was, whether that is near enough; texts that a table prints."""

    name: str
    given: str
    found: str
    right: bool


class Said(msgspec.Struct, frozen=True):
    """A sentence of the explanation: a key of the catalogue and its blanks; ``words`` are keys as well."""

    key: str
    values: dict[str, str] = {}
    words: dict[str, str] = {}

    def sentence(self, say: Catalogue) -> str:
        return say(self.key, **self.values, **{name: say(key) for name, key in self.words.items()})


class Pick(msgspec.Struct, frozen=True):
    """A variable of the list: whether it was picked, and whether only a load test gives it."""

    name: str
    picked: bool
    measured: bool


class Verdict(msgspec.Struct, frozen=True):
    """``rank`` of the learner's design by goodput, 1 is best; ``solved`` when it does what the task asks."""

    rank: int
    pays: str
    solved: bool
    judged: tuple[Judged, ...]
    said: tuple[Said, ...]
    picks: tuple[Pick, ...]
    named: bool


def verdict(task: Task, plan: Plan, ran: Trials) -> Verdict:
    """The judgement of a plan by its own trials."""
    yours = ran[YOURS]
    return Verdict(
        rank=rank_of(ran),
        pays=pays(yours, task),
        solved=yours.attainment >= task.attain / 100,
        judged=tuple(_judged(task, plan, ran)),
        said=tuple(_said(task, plan, ran)),
        picks=tuple(Pick(name, name in plan.variables, real) for name, real in VARIABLES.items()),
        named=passed(plan.variables),
    )


def rank_of(ran: Trials, name: str = YOURS) -> int:
    """1 for the best goodput; equal ones share the better rank."""
    return 1 + sum(other.goodput > ran[name].goodput for other in ran.values())


def pays(trial: Trial, task: Task) -> str:
    """The class that met its limits less often; ``same`` when it makes no difference."""
    short, long = (trial.shares[kind.name] for kind in task.classes)
    if abs(short.attainment - long.attainment) < SAME:
        return "same"
    return min((short, long), key=lambda share: share.attainment).name


# ---- the prediction ------------------------------------------------------------------------------------


def _judged(task: Task, plan: Plan, ran: Trials) -> Iterator[Judged]:
    found = ran[YOURS].summary
    if plan.expect_time is not None:
        yield _near("expect_time", float(plan.expect_time), found.mean_time_in_system or 0.0, NEAR_TIME)
    if plan.expect_inside is not None:
        yield _near("expect_inside", float(plan.expect_inside), found.mean_in_system or 0.0, NEAR_TIME)
    if plan.expect_goodput is not None:
        yield _near("expect_goodput", float(plan.expect_goodput), ran[YOURS].goodput, NEAR)
    if plan.expect_rank is not None:
        rank = rank_of(ran)
        yield Judged("expect_rank", str(plan.expect_rank), str(rank), plan.expect_rank == rank)
    if plan.expect_pays is not None:
        who = pays(ran[YOURS], task)
        yield Judged("expect_pays", plan.expect_pays, who, plan.expect_pays == who)


def _near(name: str, given: float, found: float, share: float) -> Judged:
    return Judged(name, number(given), number(round(found, 2)), abs(given - found) <= share * found)


# ---- the explanation -----------------------------------------------------------------------------------


def _said(task: Task, plan: Plan, ran: Trials) -> Iterator[Said]:
    yours = ran[YOURS]
    yield _standing(task, ran)
    yield _payer(task, yours)
    yield from _causes(task, yours)
    yield from _rivals(ran)
    yield _law(task, yours)
    yield _memory(task, plan, yours, offered(task))
    yield from _limits(ran)


def _standing(task: Task, ran: Trials) -> Said:
    best = max(ran.values(), key=lambda trial: trial.goodput)
    yours, rank = ran[YOURS], rank_of(ran)
    values = _texts(
        rank=rank,
        count=len(ran),
        goodput=yours.goodput,
        share=round(100 * yours.attainment),
        wanted=task.attain,
        most=best.goodput,
    )
    return Said(f"said.rank.{'first' if rank == 1 else 'behind'}", values, {"best": f"design.{best.name}"})


def _payer(task: Task, yours: Trial) -> Said:
    short, long = (yours.shares[kind.name] for kind in task.classes)
    values = {
        "short": f"{short.met}/{short.count}",
        "long": f"{long.met}/{long.count}",
        "short_ttft": _time(short.p95_ttft),
        "long_ttft": _time(long.p95_ttft),
    }
    return Said(f"said.pays.{pays(yours, task)}", values)


def _causes(task: Task, yours: Trial) -> Iterator[Said]:
    """The costliest reasons of those who missed; of everybody when nobody did."""
    ids = yours.missed or frozenset(one.id for one in task.requests)
    ranked = sorted(yours.held, key=lambda one: -one.of(ids))
    told = [one for one in ranked if one.of(ids)][:MOST_REASONS]
    yield Said("said.causes.missed" if yours.missed else "said.causes.all", _texts(count=len(ids)))
    tick = float(yours.service.tick)
    for one in told:
        who = [name for name in one.who if name in ids]
        values = _texts(
            count=len(who), ticks=one.of(ids), seconds=round(one.of(ids) * tick, 1), behind=one.behind
        )
        yield Said(f"why.{one.code}", values)
    if not told:
        yield Said("said.causes.none")


def _rivals(ran: Trials) -> Iterator[Said]:
    """One sentence per baseline: its leading reason."""
    for name, trial in ran.items():
        if name == YOURS:
            continue
        first = trial.held[0] if trial.held else None
        values = _texts(
            share=round(100 * trial.attainment),
            ticks=first.ticks if first else 0,
            who=len(first.who) if first else 0,
            again=trial.summary.preemptions,
            lost=trial.summary.recomputed_tokens,
        )
        code = f"reason.{first.code}" if first else "reason.nothing"
        yield Said(f"said.rival.{name}", values, {"reason": code})


def _law(task: Task, yours: Trial) -> Said:
    found = yours.summary
    values = _texts(
        rate=round(found.arrival_rate or 0.0, 3),
        time=round(found.mean_time_in_system or 0.0, 3),
        inside=round(found.mean_in_system or 0.0, 3),
        window=found.window,
        count=task.count,
        offered=task.rate,
    )
    return Said("said.law", values)


def _memory(task: Task, plan: Plan, yours: Trial, load: Offered) -> Said:
    inside = task.rate * load.alone if plan.expect_inside is None else float(plan.expect_inside)
    found = yours.summary
    values = _texts(
        estimate=round(inside * load.seen_tokens),
        held=found.peak_held_tokens,
        reserved=found.peak_reserved_tokens,
        pages=found.peak_pages,
        pool=task.machine["pages"],
        preemptions=found.preemptions,
        lost=found.recomputed_tokens,
    )
    return Said("said.memory.preempted" if found.preemptions else "said.memory", values)


def _limits(ran: Trials) -> Iterator[Said]:
    shares = [trial.attainment for trial in ran.values()]
    if min(shares) >= LOOSE:
        yield Said("said.loose")
    if max(shares) <= STRICT:
        yield Said("said.strict")


def _texts(**values: Any) -> dict[str, str]:
    return {name: _text(value) for name, value in values.items()}


def _text(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else plain(round(float(value), 3))


def _time(value: float | None) -> str:
    return "—" if value is None else number(round(value, 2))
