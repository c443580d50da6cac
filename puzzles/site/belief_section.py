"""The beliefs an exercise can meet: for each, the answer that betrays it and the rows that refute it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from markupsafe import Markup

from puzzles.asking import Field, fields
from puzzles.exercise import Exercise
from puzzles.judging import Judge, case_of
from puzzles.mistakes import beliefs_of, hit, wrong_values
from puzzles.render import belief_block
from puzzles.solving import histories


def beliefs(exercise: Exercise, language: str) -> list[Markup]:
    """One block per belief that gives a wrong answer here, in the order of the exercise's list."""
    case = case_of(exercise, histories(exercise), language)
    found = []
    for field, given in examples(exercise, case.correct).values():
        item = Judge(case, {field.key: given}).item(field)
        if item.belief is not None:
            found.append(belief_block(item.belief, language, item, case.words))
    return found


def examples(
    exercise: Exercise, correct: Mapping[str, float | str | None]
) -> dict[str, tuple[Field, float | str]]:
    """For each belief a field and a wrong answer that betrays it and no other."""
    found: dict[str, tuple[Field, float | str]] = {}
    for field in sorted(fields(exercise), key=lambda field: (not field.required, field.choices is not None)):
        for name, given in _betraying(exercise, field, correct[field.key]):
            found.setdefault(name, (field, given))
    return {one.name: found[one.name] for one in beliefs_of(exercise) if one.name in found}


def _betraying(
    exercise: Exercise, field: Field, correct: float | str | None
) -> Iterator[tuple[str, float | str]]:
    """The (belief, answer) pairs of a field in which the answer leads to that very belief."""
    for belief in beliefs_of(exercise):
        for value in wrong_values(exercise, field, belief, correct):
            given = round(float(value), 4) if isinstance(value, Fraction) else value
            named = hit(exercise, field, {field.key: given}, correct)
            if named is not None and named.name == belief.name:
                yield belief.name, given
