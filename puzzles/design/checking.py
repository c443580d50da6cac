"""The first check, before anything runs: L = λW, and what the machine can carry.

All of it is arithmetic with the figures of the task: nothing here knows the traffic.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import Any

import msgspec

from engine.words import Catalogue
from puzzles.design.plan import Plan
from puzzles.design.task import Kind, Task
from puzzles.words import plain

NEAR = 0.02  # of L: how far a product may be off, for rounding
TIGHT = 0.85  # of a capacity: from here on chance decides


class Finding(msgspec.Struct, frozen=True):
    """One sentence of the check. ``level`` is good, note, doubt or bad; ``values`` fill its blanks."""

    code: str
    level: str
    values: dict[str, str] = {}

    def sentence(self, say: Catalogue) -> str:
        """The finding in words."""
        return say(f"check.{self.code}", **self.values)


class Offered(msgspec.Struct, frozen=True):
    """What the traffic asks of the machine on average. Times in s, lengths in tokens, loads per second.

    ``alone`` is the mean time of a request that has the machine to itself, ``longest`` that of the
    slowest class; ``tokens`` is the mean length, ``seen_tokens`` that of those one meets inside,
    where the long ones are more often because they stay longer.
    """

    alone: float
    longest: float
    prefill: float
    decode: float
    tokens: float
    seen_tokens: float


def offered(task: Task) -> Offered:
    """The means of the task's own ranges."""
    times = {kind.name: alone(task, kind) for kind in task.classes}
    sizes = {kind.name: kind.mean_prompt + kind.mean_output for kind in task.classes}
    mean = _mean(task, times)
    stays = {name: times[name] * sizes[name] for name in times}
    return Offered(
        alone=mean,
        longest=max(times.values()),
        prefill=task.rate * _mean(task, {kind.name: kind.mean_prompt for kind in task.classes}),
        decode=task.rate * _mean(task, {kind.name: kind.mean_output - 1 for kind in task.classes}),
        tokens=_mean(task, sizes),
        seen_tokens=_mean(task, stays) / mean,
    )


def _mean(task: Task, by_class: dict[str, float]) -> float:
    return sum(kind.share * by_class[kind.name] for kind in task.classes) / 100


def alone(task: Task, kind: Kind) -> float:
    """Seconds from the first tick of a mean request to its last token, nobody else inside."""
    ticks = ceil(kind.mean_prompt / task.machine["prefill_budget"]) + kind.mean_output - 1
    return float(ticks * _tick(task))


def _tick(task: Task) -> float:
    return float(task.machine["tick"])


def check(task: Task, plan: Plan) -> list[Finding]:
    """Every finding, in the order of the page."""
    load = offered(task)
    return [
        *_little(task, plan, load),
        *_capacity(task, load),
        *_door(task, plan, load),
        *_slots(task, plan),
        *_pool(task, plan, load),
        *_limits(task, plan),
        *_idle(plan),
    ]


def sound(task: Task, plan: Plan) -> bool:
    """Whether L = λW holds in what was written down; nothing runs before that."""
    return not any(finding.code == "little.wrong" for finding in check(task, plan))


# ---- L = λW --------------------------------------------------------------------------------------------


def _little(task: Task, plan: Plan, load: Offered) -> Iterator[Finding]:
    if plan.expect_time is None or plan.expect_inside is None:
        yield Finding("little.none", "note", _texts(rate=task.rate))
        return
    time, inside = float(plan.expect_time), float(plan.expect_inside)
    product = task.rate * time
    fits = abs(product - inside) <= max(0.1, NEAR * product)
    values = _texts(rate=task.rate, time=time, product=round(product, 2), inside=inside)
    yield Finding("little.right" if fits else "little.wrong", "good" if fits else "bad", values)
    if time < load.alone:
        yield Finding("little.floor", "doubt", _texts(time=time, alone=load.alone))


# ---- what the machine can carry --------------------------------------------------------------------------


def _capacity(task: Task, load: Offered) -> Iterator[Finding]:
    per_second = 1 / _tick(task)
    prefill = task.machine["prefill_budget"] * per_second
    decode = task.machine["decode_slots"] * per_second
    for name, wanted, most in (("prefill", load.prefill, prefill), ("decode", load.decode, decode)):
        yield Finding(
            f"load.{name}",
            _level(wanted / most),
            _texts(rate=task.rate, wanted=round(wanted), most=round(most), share=round(100 * wanted / most)),
        )


def _level(share: float) -> str:
    return "bad" if share >= 1 else "doubt" if share > TIGHT else "good"


def _door(task: Task, plan: Plan, load: Offered) -> Iterator[Finding]:
    """How many may be inside, against how many have to be."""
    policy = plan.settings["policy"]
    if policy == "static":
        yield _batches(task, plan, load)
        return
    most = 1 if policy == "immediate" else plan.settings["max_active"]
    least = task.rate * load.alone
    if most is None:
        yield Finding("door.open", "note", _texts(least=round(least, 1)))
        return
    values = _texts(most=most, rate=task.rate, alone=load.alone, least=round(least, 1))
    if most < least:
        yield Finding("door.grows", "bad", values)
    elif plan.expect_inside is not None and most < plan.expect_inside:
        outside = float(plan.expect_inside) - most
        yield Finding("door.waits", "doubt", values | _texts(inside=plan.expect_inside, outside=outside))
    else:
        yield Finding("door.wide", "good", values)


def _batches(task: Task, plan: Plan, load: Offered) -> Finding:
    """A batch lasts as long as its slowest member, and most batches have a long one."""
    size = plan.settings["batch_size"]
    without = 1.0
    for kind in task.classes:
        if alone(task, kind) == load.longest:
            without = (1 - kind.share / 100) ** size
    shortest = min(alone(task, kind) for kind in task.classes)
    lasts = without * shortest + (1 - without) * load.longest
    fast = size / lasts
    level = "bad" if fast < task.rate else "doubt" if fast * TIGHT < task.rate else "good"
    values = _texts(
        size=size, with_long=round(100 * (1 - without)), lasts=round(lasts, 1), most=round(fast, 1)
    )
    return Finding("door.batches", level, values | _texts(rate=task.rate))


def _slots(task: Task, plan: Plan) -> Iterator[Finding]:
    """More inside than decode slots: tokens come slower."""
    slots = task.machine["decode_slots"]
    names = {"immediate": None, "static": "batch_size", "continuous": "max_active"}
    name = names[plan.settings["policy"]]
    most = plan.settings[name] if name else 1
    if most is None or most <= slots:
        return
    pace = most / slots * _tick(task)
    level = "doubt" if pace > plan.slo_tpot else "note"
    yield Finding("slots", level, _texts(most=most, slots=slots, pace=round(pace, 3), limit=plan.slo_tpot))


def _pool(task: Task, plan: Plan, load: Offered) -> Iterator[Finding]:
    """How many tokens the KV pool has to hold."""
    pool = task.machine["pages"] * task.machine["page_size"]
    inside = task.rate * load.alone if plan.expect_inside is None else float(plan.expect_inside)
    tokens = inside * load.seen_tokens
    megabytes = pool * task.machine["kv_bytes_per_token"] / 1e6
    values = _texts(
        inside=round(inside, 1),
        mean=round(load.tokens),
        seen=round(load.seen_tokens),
        tokens=round(tokens),
        pool=pool,
        megabytes=round(megabytes),
    )
    code = "over" if tokens >= pool else "tight" if tokens > TIGHT * pool else "fits"
    yield Finding(f"pool.{code}", _level(tokens / pool), values)
    if plan.settings["kv_reserve"] == "on_demand":
        yield Finding("pool.on_demand", "note")
    else:
        largest = max(task.classes, key=lambda kind: kind.mean_prompt)
        need = largest.mean_prompt + largest.mean_output
        yield Finding("pool.full", "note", _texts(long=int(pool // need), need=round(need), pool=pool))


def _limits(task: Task, plan: Plan) -> Iterator[Finding]:
    """Limits that nobody can meet."""
    if plan.slo_tpot < _tick(task):
        yield Finding("slo.tpot", "bad", _texts(limit=plan.slo_tpot, tick=_tick(task)))
    longest = max(kind.prompt[1] for kind in task.classes)
    needed = ceil(longest / task.machine["prefill_budget"]) * _tick(task)
    if plan.slo_ttft < needed:
        yield Finding("slo.ttft", "doubt", _texts(limit=plan.slo_ttft, tokens=longest, needed=needed))


ONLY_WITH = {
    "batch_size": ("policy", "static"),
    "max_wait": ("policy", "static"),
    "max_active": ("policy", "continuous"),
    "max_skip": ("queue_order", "shortest"),
}
PLAIN: dict[str, Any] = {"batch_size": 3, "max_wait": 0, "max_active": None, "max_skip": None}


def _idle(plan: Plan) -> Iterator[Finding]:
    """Settings that do nothing beside the others."""
    for name, (other, value) in ONLY_WITH.items():
        if plan.settings[name] != PLAIN[name] and plan.settings[other] != value:
            yield Finding("idle", "note", {"name": name, "other": other, "value": value})


def _texts(**values: Any) -> dict[str, str]:
    """Figures as a reader sees them: at most two decimals, three where they are needed."""
    return {name: _text(value) for name, value in values.items()}


def _text(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else plain(round(float(value), 3))
