"""What locked predictions say: right, which known belief, or another number; each judged once."""

from __future__ import annotations

import threading
from functools import cache
from typing import Any

import msgspec

from app.store import Prediction
from puzzles import Exercise, Field, fields, load, names, solve
from puzzles.asking import right
from puzzles.mistakes import hit

SURE = 3  # a confidence from which a learner counts as sure
MOST = 20_000  # judged predictions kept


class Judged(msgspec.Struct, frozen=True):
    """One answer of one prediction. ``belief`` is the known one that a wrong answer betrays."""

    field: Field
    given: Any
    right: bool
    belief: str | None


@cache
def asked(name: str) -> Exercise | None:
    """The exercise of that name as it stands, None when there is none (any more)."""
    return load(name) if name in names() else None


@cache
def correct(name: str) -> dict[str, Any]:
    """The right answers of an exercise as it stands."""
    return dict(solve(load(name)))


class Judge:
    """Judges first attempts. Predictions never change, so neither does what is said of them."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, int], tuple[Judged, ...]] = {}
        self._turn = threading.Lock()

    def judged(self, prediction: Prediction) -> tuple[Judged, ...]:
        """Every answer of a first attempt; nothing for later attempts, whose traces differ by learner."""
        place = prediction.place
        exercise = asked(place.exercise)
        if exercise is None or place.attempt != 1:
            return ()
        key = (place.learner, place.exercise, prediction.vote)
        with self._turn:
            if key not in self._known:
                if len(self._known) >= MOST:
                    self._known.pop(next(iter(self._known)))
                self._known[key] = tuple(_judge(exercise, prediction.answers))
            return self._known[key]


def _judge(exercise: Exercise, answers: dict[str, Any]) -> list[Judged]:
    truth = correct(exercise.name)
    return [
        _one(exercise, field, answers, truth[field.key]) for field in fields(exercise) if field.key in answers
    ]


def _one(exercise: Exercise, field: Field, answers: dict[str, Any], truth: Any) -> Judged:
    given = answers[field.key]
    if right(field, given, truth):
        return Judged(field, given, True, None)
    belief = hit(exercise, field, answers, truth)
    return Judged(field, given, False, belief.name if belief else None)
