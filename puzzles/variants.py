"""Another trace of the same idea, drawn from a seed and kept only when it teaches the same thing."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise
from random import Random

import msgspec

from engine import InputError, Request
from engine.requests import count
from puzzles.asking import fields
from puzzles.exercise import Drawn, Exercise, Ranges, Seen, Span
from puzzles.expressions import HOLDS, evaluate
from puzzles.figures import finder
from puzzles.mistakes import caught
from puzzles.solving import histories, in_ledger, solve
from puzzles.words import exact, puzzle_words

TRIES = 500


def variant(exercise: Exercise, seed: int | None) -> Exercise:
    """The variant of ``seed``; 0 or None is the exercise itself. Raises InputError for a bad seed."""
    if not seed:
        return exercise
    count(seed, "seed", least=0)
    source = Random(f"{exercise.name}:{seed}")
    for _ in range(TRIES):
        found = _drawn_anew(exercise, source, seed)
        if teaches(found):
            return found
    raise InputError.of("no_variant", words=puzzle_words, name=exercise.name, seed=seed, tries=TRIES)


def _pick(source: Random, span: Span) -> int:
    """A whole number of the span. Only ``random()`` is the same in every Python, so only it is used."""
    least, most = span
    return least + int(source.random() * (most - least + 1))


def _drawn_anew(exercise: Exercise, source: Random, seed: int) -> Exercise:
    """Another trace, and other givens where the file has several."""
    requests = _requests(exercise, source)
    options = exercise.variants.given
    given = {name: values[_pick(source, (0, len(values) - 1))] for name, values in options.items()}
    return msgspec.structs.replace(exercise, requests=requests, given=exercise.given | given, seed=seed)


def _requests(exercise: Exercise, source: Random) -> tuple[Request, ...]:
    texts = exercise.variants.texts
    if exercise.drawn is not None:
        return tuple(_request(ranges, texts, source) for ranges in _spread(exercise.drawn, source))
    return tuple(_request(ranges, texts, source) for ranges in exercise.variants.requests)


def _spread(drawn: Drawn, source: Random) -> list[Ranges]:
    """Requests one gap apart, the first at 0."""
    found, arrival = [], 0
    for place in range(1, drawn.count + 1):
        found.append(Ranges(f"R{place:02}", (arrival, arrival), drawn.prompt, drawn.output))
        arrival += _pick(source, drawn.gap)
    return found


def drawn_trace(exercise: Exercise) -> tuple[Request, ...]:
    """The file's own trace, where the file says how to draw it."""
    assert exercise.drawn is not None
    return _requests(exercise, Random(f"{exercise.name}:trace:{exercise.drawn.seed}"))


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
    if not all(_kept(exercise, text) for text in exercise.variants.keep):
        return False
    return caught(exercise, correct) >= must_be_caught(exercise)


def must_be_caught(exercise: Exercise) -> set[str]:
    """The beliefs that give a wrong value in every variant: the listed ones, else all of the file's own."""
    listed = exercise.variants.caught
    return {wrong.name for wrong in exercise.wrong} if listed is None else set(listed)


def _kept(exercise: Exercise, text: str) -> bool:
    """Whether a comparison holds."""
    return evaluate(exercise.filled(text), finder(in_ledger(exercise))) == HOLDS


def _in_order(exercise: Exercise) -> bool:
    """Requests arrive one after the other, or together where nothing else could be drawn."""
    fixed = all(one.arrival[0] == one.arrival[1] for one in exercise.variants.requests)
    arrivals = [request.arrival for request in exercise.requests]
    return fixed or all(a < b for a, b in pairwise(arrivals))


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
