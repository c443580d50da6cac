"""From beliefs to wrong answers, and back: what a holder would answer, and whom an answer betrays."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import msgspec

from engine import Request, Service
from puzzles.asking import Field, fields, right
from puzzles.beliefs import BELIEFS, Belief, measured
from puzzles.exercise import Exercise, Wrong
from puzzles.expressions import evaluate
from puzzles.figures import finder
from puzzles.solving import in_ledger
from puzzles.units import bound_of
from puzzles.words import exact

Correct = float | str | None
Answer = float | str


def beliefs_of(exercise: Exercise) -> tuple[Belief, ...]:
    """The wrong pictures an exercise knows, its own first, in the order in which they are tried."""
    own = dict.fromkeys(_own(wrong) for wrong in exercise.wrong)
    return (*own, *(BELIEFS[name] for name in exercise.beliefs))


def _own(wrong: Wrong) -> Belief:
    """A belief of the file; what its holder answers stands in the file too."""
    return Belief(wrong.name, wrong.item, (), _nothing, wrong.rule)


def _nothing(service: Service, requests: tuple[Request, ...], field: Field) -> tuple[Fraction, ...]:
    return ()


def wrong_values(
    exercise: Exercise, field: Field, belief: Belief, correct: Correct
) -> tuple[Fraction | str, ...]:
    """What a holder would answer, without what is right within tolerance. Found once for an exercise."""
    place = field.key, belief.name, correct
    if place not in exercise.wrong_values:
        exercise.wrong_values[place] = _wrong_values(exercise, field, belief, correct)
    return exercise.wrong_values[place]


def _wrong_values(
    exercise: Exercise, field: Field, belief: Belief, correct: Correct
) -> tuple[Fraction | str, ...]:
    if belief.name not in BELIEFS:
        values = tuple(_from_file(exercise, field, belief))
    elif field.choices is not None:
        return _wrong_choices(exercise, field, belief, correct)
    elif field.metric in belief.metrics:
        service, requests = exercise.service_of(field.run), exercise.requests_of(field.run)
        values = belief.wrong(service, requests, field)
    else:
        return ()
    return tuple(v for v in dict.fromkeys(values) if not right(field, _answer(v), correct))


def _from_file(exercise: Exercise, field: Field, belief: Belief) -> Iterator[Fraction | str]:
    """The values that the file gives for this field."""
    for wrong in exercise.wrong:
        if wrong.name == belief.name and field.key in wrong.fields:
            value = evaluate(exercise.filled(wrong.value), finder(in_ledger(exercise)))
            if value is not None:
                yield value


def _answer(value: Fraction | str) -> Answer:
    return value if isinstance(value, str) else float(value)


# ---- the built-in beliefs and the choice of the best tail ------------------------------------------


def _wrong_choices(exercise: Exercise, field: Field, belief: Belief, correct: Correct) -> tuple[str, ...]:
    """The choices that would be best if every TTFT were what the belief says."""
    if "ttft" not in belief.metrics or field.choices is None or field.value is not None:
        return ()
    tails = {name: _tail(exercise, name, field, belief) for name in field.choices}
    best = min(tails.values())
    return tuple(name for name in field.choices if tails[name] == best and name != correct)


def _tail(exercise: Exercise, run: str, field: Field, belief: Belief) -> Fraction:
    """The largest TTFT of a run as the belief has it; the real one where it has no opinion."""
    service, requests = exercise.service_of(run), exercise.requests_of(run)
    asked = [msgspec.structs.replace(field, request=request.id, metric="ttft") for request in requests]
    return max(_believed(service, requests, one, belief) for one in asked)


def _believed(service: Service, requests: tuple[Request, ...], field: Field, belief: Belief) -> Fraction:
    held = belief.wrong(service, requests, field)
    return held[0] if held else exact(measured(service, requests).requests[field.request or ""].ttft or 0.0)


# ---- whom an answer betrays ----------------------------------------------------------------------


def hit(exercise: Exercise, field: Field, answers: dict[str, Answer], correct: Correct) -> Belief | None:
    """The belief that a wrong answer betrays: the one whose value is nearest, the first of equals."""
    given = answers[field.key]
    near = [
        (_distance(given, value), belief)
        for belief in beliefs_of(exercise)
        for value in wrong_values(exercise, field, belief, correct)
        if right(field, given, _answer(value))
    ]
    return min(near, key=lambda pair: pair[0])[1] if near else _by_comparison(exercise, field, answers)


def _distance(given: Answer, value: Fraction | str) -> Fraction:
    """How far apart two answers of one kind are; choices are the same or not."""
    if isinstance(given, str) or isinstance(value, str):
        one, other = bound_of(str(given)), bound_of(str(value))
        return abs(one - other) if one is not None and other is not None else Fraction(0)
    return abs(exact(given) - value)


def _by_comparison(exercise: Exercise, field: Field, answers: dict[str, Answer]) -> Belief | None:
    """Tokens said to come faster under continuous than under another policy, whatever the numbers."""
    if field.metric != "tpot" or field.policy != "continuous" or "faster_tokens" not in exercise.beliefs:
        return None
    given = answers[field.key]
    others = (answers.get(f"{run.name}.{field.request}.tpot") for run in exercise.runs)
    slower = any(isinstance(other, float) and isinstance(given, float) and given < other for other in others)
    return BELIEFS["faster_tokens"] if slower else None


def all_wrong(
    exercise: Exercise, found: list[Field], correct: dict[str, Correct]
) -> dict[tuple[str, str], tuple[Fraction | str, ...]]:
    """Every wrong value that names a belief, by (field, belief)."""
    pairs = product(found, beliefs_of(exercise))
    values = {(f.key, b.name): wrong_values(exercise, f, b, correct[f.key]) for f, b in pairs}
    return {pair: wrong for pair, wrong in values.items() if wrong}


def caught(exercise: Exercise, correct: dict[str, Correct]) -> set[str]:
    """The beliefs that give a wrong value somewhere."""
    return {name for _, name in all_wrong(exercise, list(fields(exercise)), correct)}
