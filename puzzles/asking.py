"""The fields of an exercise: one for each number or choice a learner may give."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from engine.words import Catalogue
from puzzles.exercise import Ask, Exercise, Question
from puzzles.expressions import choices_of
from puzzles.figures import runs_in
from puzzles.measures import CHOICE, MEASURES, REQUEST, tolerance
from puzzles.units import bound_of, unit_name
from puzzles.words import exact, plain, run_name

ASK = "ask"  # the metric of a field whose answer is an expression


class Field(msgspec.Struct, frozen=True):
    """One answer to give.

    ``run`` decides it, ``policy`` and ``request`` name what it is about (None: nobody in particular),
    ``unit`` is one of units.py, empty for a choice. A number is right when it is nearer than
    ``tolerance``. ``value`` is the expression of an ask, ``runs`` all runs it is about, ``about`` the
    request whose tick rows explain it, ``rule`` which rows those are. ``strict``: the tolerance is its own.
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
    value: str | None = None
    runs: tuple[str, ...] = ()
    about: str | None = None
    rule: str | None = None
    strict: bool = False

    def label(self, words: Catalogue) -> str:
        """What is asked, in words; and how near, where that is not as usual."""
        near = f"{plain(self.tolerance)} {unit_name(self.unit, words)}"
        label = self._label(words)
        return words("field.near", label=label, near=near) if self.strict else label

    def _label(self, words: Catalogue) -> str:
        if self.value is not None:
            return words(f"ask.{self.key}")
        run = run_name(self.run, words) if self.policy else ""
        return words(f"field.{self.metric}", request=self.request or "", run=run)


def fields(exercise: Exercise) -> tuple[Field, ...]:
    """Every field, in the order in which they are asked. An exercise works them out once."""
    return exercise.fields


def every_field(exercise: Exercise) -> tuple[Field, ...]:
    """The fields worked out anew: part by part, grids before single questions."""
    found = [field for question in exercise.questions for field in _fields(exercise, question)]
    found += [_asked(exercise, ask) for ask in exercise.asks]
    parts = [part.name for part in exercise.parts]
    return tuple(sorted(found, key=lambda field: parts.index(field.part))) if exercise.asks else tuple(found)


def field_of(exercise: Exercise, key: str) -> Field:
    """The field of that key. Raises KeyError."""
    return {field.key: field for field in fields(exercise)}[key]


def runs_of_part(exercise: Exercise, part: str) -> tuple[str, ...]:
    """The runs that the fields of a part are about, in the order of the file."""
    named = {run for field in fields(exercise) if field.part == part for run in field.runs}
    return tuple(run.name for run in exercise.runs if run.name in named)


def _fields(exercise: Exercise, question: Question) -> Iterator[Field]:
    """The fields of one question: by run, then by request, then by metric."""
    if MEASURES[question.metrics[0]].scope == CHOICE:
        yield _field(exercise, question, question.metrics[0], question.runs[0], None)
        return
    for run in question.runs:
        for request in question.requests or (None,):
            for metric in question.metrics:
                if not _undefined(exercise, run, metric, request):
                    yield _field(exercise, question, metric, run, request)


def _undefined(exercise: Exercise, run: str, metric: str, request: str | None) -> bool:
    """TPOT of a single output token does not exist, and neither does a request the run leaves out."""
    if request is None:
        return False
    lengths = {one.id: one.output_tokens for one in exercise.requests_of(run)}
    return request not in lengths or (metric == "tpot" and lengths[request] < 2)


def _field(exercise: Exercise, question: Question, metric: str, run: str, request: str | None) -> Field:
    measure, service = MEASURES[metric], exercise.service_of(run)
    pattern = question.key or ("{run}.{request}.{metric}" if request else "{run}.{metric}")
    key = pattern.format(run=run, request=request, metric=metric)
    choice = measure.scope == CHOICE
    by_policy = not choice and "{run}" in pattern
    near = question.tolerance if question.tolerance is not None else measure.tolerance(service)
    return Field(
        key=key,
        part=exercise.run(run).part,
        policy=service.policy if by_policy else None,
        request=request if measure.scope == REQUEST else None,
        metric=metric,
        unit=measure.unit,
        required=key in exercise.required,
        choices=question.runs if choice else None,
        tolerance=0.0 if choice else float(near),
        run=run,
        runs=question.runs if choice else (run,),
        strict=question.tolerance is not None,
    )


def _asked(exercise: Exercise, ask: Ask) -> Field:
    """The field of a question whose answer is an expression. One about no run is shown beside the first."""
    value = exercise.filled(ask.value)
    runs = runs_in(value) or (exercise.runs[0].name,)
    choices, service = choices_of(value), exercise.service_of(runs[0])
    near = ask.tolerance if ask.tolerance is not None else tolerance(ask.unit, service)
    return Field(
        key=ask.key,
        part=ask.part,
        policy=service.policy,
        request=None,
        metric=ASK,
        unit="" if choices else ask.unit,
        required=not ask.optional,
        choices=choices,
        tolerance=0.0 if choices else float(near),
        run=runs[0],
        value=value,
        runs=runs,
        about=ask.request,
        rule=ask.rule,
        strict=ask.tolerance is not None,
    )


def right(field: Field, given: float | str, correct: float | str | None) -> bool:
    """Whether ``given`` answers the field: the same choice, or nearer than the tolerance.

    An answer “at least so much” is right only where the correct one is of that kind.
    """
    if correct is None:
        return False
    if isinstance(given, str) and isinstance(correct, str):
        one, other = bound_of(given), bound_of(correct)
        if one is None or other is None:
            return given == correct
        return abs(one - other) < exact(field.tolerance)
    if isinstance(given, str) or isinstance(correct, str):
        return False
    return abs(exact(given) - exact(correct)) < exact(field.tolerance)
