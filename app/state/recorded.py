"""What an attempt asks, what has to be run for it, and the runs as far as a learner has had them."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from app.worker import RunSpec
from app.worker.runs import Runs
from engine import History
from puzzles import Exercise, load, runs, solving


class Seen(NamedTuple):
    """The runs by name, of how many ticks they are, and whether every one of them has ended."""

    histories: dict[str, History]
    ticks: int
    ended: bool


@lru_cache(maxsize=256)
def exercise_of(name: str, seed: int | None) -> Exercise:
    """The exercise, or its variant of that seed: made once for all who ask."""
    return load(name).variant(seed)


@lru_cache(maxsize=256)
def specs_of(name: str, seed: int | None) -> dict[str, RunSpec]:
    """What has to be run for that variant, by the name the exercise gives it. Shared by all who ask."""
    every = runs(exercise_of(name, seed))
    return {run.name: RunSpec(run.service, run.requests, run.weights) for run in every}


async def first_ticks(
    recorded: Runs, exercise: Exercise, specs: dict[str, RunSpec], ticks: int | None
) -> Seen:
    """The first ``ticks`` ticks of every run (None: all), run where nobody has run them yet, and no more
    than the windows of the exercise let one see. Raises WorkerError when a run cannot be had.
    """
    recordings = dict(zip(specs, await recorded.all_first(list(specs.values()), ticks), strict=True))
    whole = solving.observed(exercise, {name: one.history() for name, one in recordings.items()})
    longest = max(len(history.records) for history in whole.values())
    known = longest if ticks is None else min(ticks, longest)
    ended = all(
        len(whole[name].records) <= known and (one.done or _closed(whole[name]))
        for name, one in recordings.items()
    )
    shown = {name: one.history(known) for name, one in recordings.items()}
    return Seen(solving.observed(exercise, shown), known, ended)


def _closed(history: History) -> bool:
    """Whether the window of a run has come to its end."""
    horizon = history.horizon
    return horizon is not None and len(history.records) * history.service.tick >= horizon
