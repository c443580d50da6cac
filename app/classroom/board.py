"""What the teacher sees of an exercise: who has locked, and what the class believes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from app.classroom.judging import SURE, Judge, Judged, asked
from app.designing.visit import EXERCISE as TRANSFER
from app.store import STEPS, Prediction
from engine.words import Catalogue
from puzzles import Field, fields, shown
from puzzles.design.words import design_words

LEVELS = (1, 2, 3, 4)
RIGHT, OTHER = "right", "other"
MOST_WHYS = 200
MOST_VALUES = 6  # different values named beside a bin


class Bin(msgspec.Struct, frozen=True):
    """Answers that mean the same. ``kind`` is right, belief or other; ``sure`` of ``count`` were sure."""

    kind: str
    title: str
    count: int
    sure: int
    values: tuple[tuple[str, int], ...]


class FieldBoard(msgspec.Struct, frozen=True):
    """One question: its bins, the fullest first; how many answered, and how many sure and wrong."""

    key: str
    label: str
    unit: str
    required: bool
    answered: int
    sure_and_wrong: int
    bins: tuple[Bin, ...]


class Votes(msgspec.Struct, frozen=True):
    """What was voted; only made when the teacher shows it."""

    confidence: dict[int, int]
    sure_and_wrong: int
    fields: tuple[FieldBoard, ...]
    whys: tuple[str, ...]


class Board(msgspec.Struct, frozen=True):
    """One exercise. ``votes`` is None while they are hidden."""

    exercise: str
    title: str
    seen: int
    locked: int
    steps: tuple[tuple[str, int], ...]
    votes: Votes | None


def board_of(
    name: str,
    predictions: Sequence[Prediction],
    steps: dict[str, int],
    judge: Judge,
    words: Catalogue,
    *,
    language: str,
    show: bool,
) -> Board:
    """The board of the exercise ``name`` from all that was locked for it."""
    exercise = asked(name)
    first = [one for one in predictions if one.place.attempt == 1 and one.vote == 1]
    counted = tuple((step, steps.get(step, 0)) for step in STEPS)
    seen = max(sum(steps.values()), len(first))
    votes = _votes(name, first, judge, words, language) if show and exercise else None
    return Board(name, title_of(name, language), seen, len(first), counted, votes)


def title_of(name: str, language: str) -> str:
    """What an exercise is called; of one that is gone, its name."""
    if name == TRANSFER:
        return design_words(language)("title")
    exercise = asked(name)
    return exercise.words(language)("title") if exercise else name


def _votes(
    name: str, predictions: Sequence[Prediction], judge: Judge, words: Catalogue, language: str
) -> Votes:
    exercise = asked(name)
    assert exercise is not None
    texts = exercise.words(language)
    judged = [(is_sure(one), judge.judged(one)) for one in predictions]
    confidence = Counter(one.confidence for one in predictions)
    return Votes(
        confidence={level: confidence[level] for level in LEVELS},
        sure_and_wrong=sum(sure and any(not item.right for item in items) for sure, items in judged),
        fields=tuple(_field(field, judged, texts, words) for field in fields(exercise)),
        whys=tuple(one.why for one in predictions if one.why.strip())[-MOST_WHYS:],
    )


def is_sure(prediction: Prediction) -> bool:
    return (prediction.confidence or 0) >= SURE


def _field(
    field: Field,
    judged: Iterable[tuple[bool, tuple[Judged, ...]]],
    texts: Catalogue,
    words: Catalogue,
) -> FieldBoard:
    given = [(sure, item) for sure, items in judged for item in items if item.field.key == field.key]
    groups: dict[str, list[tuple[bool, Judged]]] = {}
    for sure, item in given:
        groups.setdefault(_group(item), []).append((sure, item))
    bins = [_bin(group, members, texts, words) for group, members in groups.items()]
    return FieldBoard(
        key=field.key,
        label=field.label(texts),
        unit=field.unit,
        required=field.required,
        answered=len(given),
        sure_and_wrong=sum(sure and not item.right for sure, item in given),
        bins=tuple(sorted(bins, key=lambda one: (-one.count, one.title))),
    )


def _group(item: Judged) -> str:
    return RIGHT if item.right else item.belief or OTHER


def _bin(group: str, members: list[tuple[bool, Judged]], texts: Catalogue, words: Catalogue) -> Bin:
    title = words(f"bin.{group}") if group in (RIGHT, OTHER) else texts(f"belief.{group}.title")
    values = Counter(shown(item.given, item.field.unit, texts) for _, item in members)
    return Bin(
        kind=group if group in (RIGHT, OTHER) else "belief",
        title=title,
        count=len(members),
        sure=sum(sure for sure, _ in members),
        values=tuple(values.most_common(MOST_VALUES)),
    )
