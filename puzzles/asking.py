"""The fields of an exercise: one for each number or choice a learner may give."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from engine.words import Catalogue
from puzzles.exercise import Exercise, Question
from puzzles.measures import CHOICE, MEASURES, REQUEST
from puzzles.words import exact, run_name


class Field(msgspec.Struct, frozen=True):
    """One answer to give.

    ``run`` decides it, ``policy`` and ``request`` name what it is about (None: nobody in particular),
    ``unit`` is s or MB, empty for a choice. A number is right when it is nearer than ``tolerance``.
    """

    key: str
    part: str
    policy: str | None
    request: str | None
    metric: str
    unit: str
    required: bool
    choices: tuple[str, ...] | None
    tolerance: float
    run: str

    def label(self, words: Catalogue) -> str:
        """What is asked, in words."""
        run = run_name(self.run, words) if self.policy else ""
        return words(f"field.{self.metric}", request=self.request or "", run=run)


def fields(exercise: Exercise) -> tuple[Field, ...]:
    """Every field, in the order in which they are asked."""
    return tuple(field for question in exercise.questions for field in _fields(exercise, question))


def field_of(exercise: Exercise, key: str) -> Field:
    """The field of that key. Raises KeyError."""
    return {field.key: field for field in fields(exercise)}[key]


def _fields(exercise: Exercise, question: Question) -> Iterator[Field]:
    """The fields of one question: by run, then by request, then by metric."""
    if MEASURES[question.metrics[0]].scope == CHOICE:
        yield _field(exercise, question, question.metrics[0], question.runs[0], None)
        return
    for run in question.runs:
        for request in question.requests or (None,):
            for metric in question.metrics:
                if not _undefined(exercise, metric, request):
                    yield _field(exercise, question, metric, run, request)


def _undefined(exercise: Exercise, metric: str, request: str | None) -> bool:
    """TPOT of a single output token does not exist, so nobody is asked for it."""
    return metric == "tpot" and request is not None and exercise.request(request).output_tokens < 2


def _field(exercise: Exercise, question: Question, metric: str, run: str, request: str | None) -> Field:
    measure, service = MEASURES[metric], exercise.service_of(run)
    key = question.key.format(run=run, request=request, metric=metric)
    choice = measure.scope == CHOICE
    by_policy = not choice and "{run}" in question.key
    return Field(
        key=key,
        part=exercise.run(run).part,
        policy=service.policy if by_policy else None,
        request=request if measure.scope == REQUEST else None,
        metric=metric,
        unit=measure.unit,
        required=key in exercise.required,
        choices=question.runs if choice else None,
        tolerance=0.0 if choice else float(measure.tolerance(service)),
        run=run,
    )


def right(field: Field, given: float | str, correct: float | str | None) -> bool:
    """Whether ``given`` answers the field: the same choice, or nearer than the tolerance."""
    if correct is None or isinstance(given, str) or isinstance(correct, str):
        return correct is not None and given == correct
    return abs(exact(given) - exact(correct)) < exact(field.tolerance)
