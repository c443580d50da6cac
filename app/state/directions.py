"""What a teacher has decided for an exercise, and what a learner may do then. Rules, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from app.store import Decided
from app.store.values import STEPS

PHASES = ("closed", "vote1", "discuss", "vote2", "run", "reveal", "free")  # in the order of a lesson
OPENS = {"run": 1, "reveal": 2, "free": 2}  # how much of the answer a phase opens
ENDED = "ended"  # the phase of every exercise of a class that is over


class Direction(msgspec.Struct, frozen=True):
    """Where the teacher has a class with one exercise.

    ``phase`` is one of PHASES, or ENDED. ``tick``: in the phase ``run`` nobody goes beyond it (None:
    everybody at their own pace). ``show_votes``: whether the projector shows what was voted. ``last``: in
    a class that is over, the phase in which it ended. ``elsewhere``: the exercise the class is at, if that
    is another one.
    """

    phase: str = "free"
    tick: int | None = None
    show_votes: bool = False
    last: str = ""
    elsewhere: str = ""


class Rules(msgspec.Struct, frozen=True):
    """What is allowed. ``vote`` is the ballot that may be locked (None: none now); ``unobserved``: the
    verdict comes without a number read off the run; ``farthest`` is the last step a page may show."""

    vote: int | None
    run: bool
    verdict: bool
    again: bool
    farthest: str
    unobserved: bool = False


RULES = {
    #                vote   run    verdict again  farthest
    "free": Rules(1, True, True, True, "again"),
    "closed": Rules(None, False, False, False, "predict"),
    "vote1": Rules(1, False, False, False, "predict"),
    "discuss": Rules(None, False, False, False, "predict"),
    "vote2": Rules(2, False, False, False, "predict"),
    "run": Rules(None, True, False, False, "observe"),
    "reveal": Rules(None, True, True, True, "again", unobserved=True),
}


def direction_of(decided: Mapping[str, Any], *, ended: bool = False) -> Direction:
    """The direction from what was decided last by name. A value of another form holds everything back."""
    phase, tick = decided.get("phase", "free"), decided.get("tick")
    if phase not in PHASES:
        phase = "closed"
    shown, tick = decided.get("show_votes") is True, tick if is_tick(tick) else None
    return Direction(ENDED, tick, shown, phase) if ended else Direction(phase, tick, shown)


def led_now(decided: Decided) -> str:
    """The exercise a class is at: that of the last decision, unless it is free or the class is over."""
    name = decided.newest or ""
    return "" if decided.ended or direction_of(decided.of(name)).phase == "free" else name


def leaps(before: str, after: str) -> bool:
    """Whether the phase ``after`` opens the run or the verdict out of turn: nobody can unsee it."""
    opens = OPENS.get(after, 0) > OPENS.get(before, 0)
    return opens and PHASES.index(after) != PHASES.index(before) + 1


def is_tick(value: object) -> bool:
    """Whether ``value`` can be the tick of a lock step."""
    return type(value) is int and value >= 0


def rules_of(direction: Direction, attempt: int) -> Rules:
    """What a learner may do. Later attempts, each on a trace of its own, are practice: only the end of the
    class ends them. It takes nothing away from a page that was seen before, but nothing new begins."""
    rules = RULES[_phase(direction) if attempt == 1 else "free"]
    if direction.phase != ENDED:
        return rules
    farthest = min(rules.farthest, "verdict", key=STEPS.index)
    return msgspec.structs.replace(rules, vote=None, again=False, farthest=farthest)


def ticks_of(direction: Direction, attempt: int) -> int | None:
    """How many ticks a learner may see, None for all."""
    led = attempt == 1 and _phase(direction) == "run" and direction.tick is not None
    return direction.tick + 1 if led and direction.tick is not None else None


def _phase(direction: Direction) -> str:
    """The phase the class is in, or was in when it ended."""
    return (direction.last or "closed") if direction.phase == ENDED else direction.phase


def shown_step(step: str, rules: Rules) -> str:
    """The step a page shows for a learner who has come to ``step``."""
    return min(step, rules.farthest, key=STEPS.index)
