"""What a teacher has decided for an exercise, and what a learner may do then. Rules, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from app.store.values import STEPS

PHASES = ("closed", "vote1", "discuss", "vote2", "run", "reveal", "free")  # in the order of a lesson
ENDED = "ended"  # the phase of every exercise of a class that is over


class Direction(msgspec.Struct, frozen=True):
    """Where the teacher has a class with one exercise.

    ``phase`` is one of PHASES, or ENDED. ``tick``: in the phase ``run`` nobody goes beyond it (None:
    everybody at their own pace). ``show_votes``: whether the projector shows what was voted.
    """

    phase: str = "free"
    tick: int | None = None
    show_votes: bool = False


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
    ENDED: Rules(None, False, False, False, "predict"),
}


def direction_of(decided: Mapping[str, Any], *, ended: bool = False) -> Direction:
    """The direction from what was decided last by name. A value of another form holds everything back."""
    phase, tick = decided.get("phase", "free"), decided.get("tick")
    if ended:
        phase = ENDED
    elif phase not in PHASES:
        phase = "closed"
    return Direction(phase, tick if is_tick(tick) else None, decided.get("show_votes") is True)


def is_tick(value: object) -> bool:
    """Whether ``value`` can be the tick of a lock step."""
    return type(value) is int and value >= 0


def rules_of(direction: Direction, attempt: int) -> Rules:
    """What a learner may do. Later attempts, each on a trace of its own, are practice: only the end of the
    class ends them."""
    led = attempt == 1 or direction.phase == ENDED
    return RULES[direction.phase if led else "free"]


def ticks_of(direction: Direction, attempt: int) -> int | None:
    """How many ticks a learner may see, None for all."""
    led = attempt == 1 and direction.phase == "run" and direction.tick is not None
    return direction.tick + 1 if led and direction.tick is not None else None


def shown_step(step: str, rules: Rules) -> str:
    """The step a page shows for a learner who has come to ``step``."""
    return min(step, rules.farthest, key=STEPS.index)
