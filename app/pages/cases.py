"""What a verdict says whatever was answered, made once: a class that ends the same run shares it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping

from app.state import Lesson
from engine import History
from puzzles.judging import Case, case_of

KEPT = 64  # a class shares the first attempt; later ones are of one learner each


class Cases:
    """Cases by exercise, variant and language. Forgets the one that was used longest ago.

    The finished runs of a variant are the same for everybody: see ``RunSpec``.
    """

    def __init__(self) -> None:
        self._cases: OrderedDict[tuple[str, int | None, str], Case] = OrderedDict()

    def case(self, lesson: Lesson, histories: Mapping[str, History]) -> Case:
        """The case of the exercise that the lesson is about; ``histories`` are its finished runs."""
        place = (lesson.exercise_name, lesson.seed, lesson.language)
        if place not in self._cases:
            self._cases[place] = case_of(lesson.exercise, histories, lesson.language)
        self._cases.move_to_end(place)
        if len(self._cases) > KEPT:
            self._cases.popitem(last=False)
        return self._cases[place]


cases = Cases()
