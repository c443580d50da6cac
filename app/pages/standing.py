"""How far a learner is in the course: a mark for each exercise, and where to go on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from app.pages.contents import PATH
from app.state import Lesson
from app.state.recorded import exercise_of
from app.store import Visit
from puzzles import fields, solve
from puzzles.asking import right
from puzzles.course import course, following, room_of
from puzzles.solving import Answers

MARKS = ("begun", "locked", "seen", "right")  # each is farther than the one before
SIGNS = {"begun": "○", "locked": "◐", "seen": "●", "right": "✓"}
WALKED = ("seen", "right")


class Standing(msgspec.Struct, frozen=True):
    """``marks`` by exercise, of those that were begun; ``last`` is the exercise touched last."""

    marks: dict[str, str]
    last: str | None

    def path(self) -> tuple[int, int]:
        """How many exercises of the main path have shown their verdict, and how many there are."""
        names = next(room.exercises for room in course().rooms if room.name == PATH)
        return sum(self.marks.get(name) in WALKED for name in names), len(names)

    def knows_the_rules(self, name: str) -> bool:
        """Whether the answers to another exercise than ``name`` have been locked."""
        return any(mark != "begun" for other, mark in self.marks.items() if other != name)

    def going_on(self) -> str | None:
        """Where to go on: the exercise touched last, or the one after it once its verdict was seen."""
        if self.last is None or self.marks[self.last] not in WALKED:
            return self.last
        return following(self.last)

    def at(self, lesson: Lesson) -> Standing:
        """The same after what has happened in ``lesson`` since."""
        now = _mark(lesson.exercise_name, lesson.attempt, lesson.seed, _answers(lesson), lesson.revealed)
        name, marks = lesson.exercise_name, dict(self.marks)
        if name in marks or lesson.step != "read":
            marks[name] = _farther(now, marks.get(name))
        return msgspec.structs.replace(self, marks=marks)


def standing(visits: Iterable[Visit]) -> Standing:
    """The standing of one learner, from every attempt they began."""
    marks: dict[str, str] = {}
    moments = []
    for one in visits:
        now = _mark(one.exercise, one.attempt, one.seed, one.answers, one.revealed)
        marks[one.exercise] = _farther(now, marks.get(one.exercise))
        moments.append((one.moment, one.exercise))
    return Standing(marks, max(moments)[1] if moments else None)


def _farther(one: str, other: str | None) -> str:
    return one if other is None else max(one, other, key=MARKS.index)


def _answers(lesson: Lesson) -> dict[str, Any] | None:
    return None if lesson.prediction is None else lesson.prediction.answers


def _mark(
    exercise: str, attempt: int, seed: int | None, answers: Mapping[str, Any] | None, revealed: bool
) -> str:
    if answers is None:
        return "begun" if attempt == 1 else "seen"
    if not revealed:
        return "locked" if attempt == 1 else "seen"
    return "right" if attempt > 1 and all_right(exercise, seed, answers) else "seen"


def all_right(name: str, seed: int | None, answers: Mapping[str, Any]) -> bool:
    """Whether every required answer at that variant is right."""
    asked = [field for field in fields(exercise_of(name, seed)) if field.required]
    correct = _correct(name, seed)
    return all(
        field.key in answers and right(field, answers[field.key], correct[field.key]) for field in asked
    )


@lru_cache(maxsize=1024)
def _correct(name: str, seed: int | None) -> Answers:
    return solve(exercise_of(name, seed))


def on_path(name: str) -> bool:
    """Whether the exercise belongs to the main path."""
    return room_of(name).name == PATH
