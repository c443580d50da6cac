"""What was voted as a room may see it: the answers, without saying which is right before the verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec

from app.classroom.board import Ballots
from app.classroom.judging import asked, correct
from app.store import Prediction
from engine.words import Catalogue
from puzzles import Exercise, Field, fields, shown
from puzzles.asking import right
from puzzles.mistakes import hit

Answer = float | str
MOST = 6  # different answers shown of a question


class Row(msgspec.Struct, frozen=True):
    """One answer: how many gave it in vote 1 and in vote 2. ``right`` None: not told yet. ``belief`` is the
    known one behind a wrong answer, once it is told."""

    text: str
    first: int
    second: int
    right: bool | None
    belief: str = ""


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
    """The required questions that anybody answered. ``tell``: mark the right answers, name the beliefs."""
    exercise = asked(name)
    if exercise is None:
        return ()
    truth = correct(name) if tell else {}
    found = (
        _question(exercise, field, ballots, exercise.words(language), truth.get(field.key))
        for field in fields(exercise)
        if field.required
    )
    return tuple(one for one in found if one.first or one.second)


def _question(
    exercise: Exercise, field: Field, ballots: Ballots, texts: Catalogue, truth: Answer | None
) -> Question:
    """``truth`` None: it is not told."""
    votes = (*ballots.first, *ballots.again, *ballots.late)
    before, after = _count(field, ballots.first), _count(field, (*ballots.again, *ballots.late))
    most = [given for given, _ in (before + after).most_common()]
    ranked = most[:MOST]
    if truth is not None and not any(right(field, given, truth) for given in ranked):
        ranked.append(next((given for given in most[MOST:] if right(field, given, truth)), truth))
    rows = tuple(
        Row(
            shown(given, field.unit, texts),
            before[given],
            after[given],
            None if truth is None else right(field, given, truth),
            "" if truth is None else _belief(exercise, field, votes, given, truth, texts),
        )
        for given in ranked
    )
    others = sum(before[given] + after[given] for given in most if given not in ranked)
    return Question(field.key, field.label(texts), before.total(), after.total(), rows, others)


def _belief(
    exercise: Exercise,
    field: Field,
    votes: Iterable[Prediction],
    given: Answer,
    truth: Answer,
    texts: Catalogue,
) -> str:
    """What the known belief is called that the answer ``given`` betrays, empty for none."""
    answers = next((one.answers for one in votes if one.answers.get(field.key) == given), None)
    if answers is None or right(field, given, truth):
        return ""
    found = hit(exercise, field, answers, truth)
    return texts(f"belief.{found.name}.title") if found else ""


def _count(field: Field, votes: Iterable[Prediction]) -> Counter[Answer]:
    return Counter(one.answers[field.key] for one in votes if field.key in one.answers)
