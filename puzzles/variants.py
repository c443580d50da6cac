"""Another trace of the same idea, drawn from a seed and kept only when it teaches the same thing."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise
from random import Random

import msgspec

from engine import InputError, Request
from engine.requests import count
from puzzles.asking import fields
from puzzles.beliefs import all_wrong
from puzzles.exercise import Exercise, Ranges, Seen, Span
from puzzles.solving import histories, solve
from puzzles.words import exact

TRIES = 500


def variant(exercise: Exercise, seed: int | None) -> Exercise:
    """The variant of ``seed``; 0 or None is the exercise itself. Raises InputError for a bad seed."""
    if not seed:
        return exercise
    count(seed, "seed", least=0)
    source = Random(f"{exercise.name}:{seed}")
    for _ in range(TRIES):
        drawn = msgspec.structs.replace(exercise, requests=_requests(exercise, source), seed=seed)
        if teaches(drawn):
            return drawn
    raise InputError(f"exercise {exercise.name}: seed {seed} gave no fit trace in {TRIES} tries")


def _pick(source: Random, span: Span) -> int:
    """A whole number of the span. Only ``random()`` is the same in every Python, so only it is used."""
    least, most = span
    return least + int(source.random() * (most - least + 1))


def _requests(exercise: Exercise, source: Random) -> tuple[Request, ...]:
    texts = exercise.variants.texts
    return tuple(_request(ranges, texts, source) for ranges in exercise.variants.requests)


def _request(ranges: Ranges, texts: tuple[str, ...], source: Random) -> Request:
    """One request. Its prompt is a line of the file, cut to length: a byte is a token."""
    arrival = Decimal(_pick(source, ranges.arrival)) / 100
    length, output = _pick(source, ranges.prompt), _pick(source, ranges.output)
    line = texts[_pick(source, (0, len(texts) - 1))]
    return Request(ranges.id, arrival, length, output, line.encode()[:length].decode())


def teaches(exercise: Exercise) -> bool:
    """Whether every answer exists, and the differences and events that the file asks for are there."""
    if not _in_order(exercise) or not all(_happens(exercise, seen) for seen in exercise.variants.seen):
        return False
    correct = solve(exercise)
    apart = all(_apart(exercise, correct, *pair) for pair in exercise.variants.differ)
    if None in correct.values() or not apart:
        return False
    caught = {name for _, name in all_wrong(exercise, list(fields(exercise)), correct)}
    return caught >= set(exercise.variants.caught)


def _in_order(exercise: Exercise) -> bool:
    """Requests arrive one after the other."""
    arrivals = [request.arrival for request in exercise.requests]
    return all(a < b for a, b in pairwise(arrivals))


def _happens(exercise: Exercise, seen: Seen) -> bool:
    records = histories(exercise)[seen.run].records
    happened = any(reason.code == seen.reason for record in records for _, reason in record.blocked)
    return happened is not seen.never


def _apart(exercise: Exercise, correct: dict[str, float | str | None], first: str, second: str) -> bool:
    """Whether two answers cannot be taken for each other."""
    one, other = correct[first], correct[second]
    tolerance = next(exact(field.tolerance) for field in fields(exercise) if field.key == first)
    assert isinstance(one, float)
    assert isinstance(other, float)
    return abs(exact(one) - exact(other)) >= 2 * tolerance
