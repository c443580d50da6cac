"""What was voted as a room may see it: the answers, without saying which is right before the verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec

from app.classroom.board import Ballots
from app.classroom.judging import asked, correct
from app.store import Prediction
from engine.words import Catalogue
from puzzles import Field, fields, shown
from puzzles.asking import right

MOST = 6  # different answers shown of a question


class Row(msgspec.Struct, frozen=True):
    """One answer: how many gave it in vote 1 and in vote 2. ``right`` None: not told yet."""

    text: str
    first: int
    second: int
    right: bool | None


class Question(msgspec.Struct, frozen=True):
    """A question with its answers, the most frequent first; ``others`` gave something else. Once it is told,
    what is right is among the answers, whether anybody gave it or not."""

    key: str
    label: str
    first: int
    second: int
    rows: tuple[Row, ...]
    others: int


def poll_of(name: str, ballots: Ballots, language: str, *, tell: bool) -> tuple[Question, ...]:
    """The required questions that anybody answered. ``tell``: mark the right answers."""
    exercise = asked(name)
    if exercise is None:
        return ()
    texts = exercise.words(language)
    second = (*ballots.again, *ballots.late)
    truth = correct(name) if tell else {}
    found = (
        _question(field, ballots.first, second, texts, truth.get(field.key) if tell else None, tell)
        for field in fields(exercise)
        if field.required
    )
    return tuple(one for one in found if one.first or one.second)


def _question(
    field: Field,
    first: Iterable[Prediction],
    second: Iterable[Prediction],
    texts: Catalogue,
    truth: float | str | None,
    tell: bool,
) -> Question:
    before, after = _count(field, first), _count(field, second)
    most = [given for given, _ in (before + after).most_common()]
    ranked = most[:MOST]
    if truth is not None and not any(right(field, given, truth) for given in ranked):
        ranked.append(next((given for given in most[MOST:] if right(field, given, truth)), truth))
    rows = tuple(
        Row(
            shown(given, field.unit, texts),
            before[given],
            after[given],
            right(field, given, truth) if tell else None,
        )
        for given in ranked
    )
    others = sum(before[given] + after[given] for given in most if given not in ranked)
    return Question(field.key, field.label(texts), before.total(), after.total(), rows, others)


def _count(field: Field, votes: Iterable[Prediction]) -> Counter[float | str]:
    return Counter(one.answers[field.key] for one in votes if field.key in one.answers)
