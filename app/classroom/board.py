"""What the teacher sees of an exercise: who has locked, and what the class believes, before and after."""

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
    """Answers that mean the same. ``kind`` is right, belief or other.

    ``count`` learners gave it in vote 1, ``sure`` of them sure; ``again`` in vote 2, of those who voted
    in both, ``again_sure`` of them sure; ``late`` in vote 2, of those who came too late for vote 1.
    ``values`` are the answers given most, each with how many gave it in vote 1 and in vote 2, the late
    included.
    """

    kind: str
    title: str
    count: int
    sure: int
    again: int
    again_sure: int
    late: int
    values: tuple[tuple[str, int, int], ...]


class Move(msgspec.Struct, frozen=True):
    """How many went from one meaning in vote 1 to another in vote 2."""

    before: str
    after: str
    count: int


class FieldBoard(msgspec.Struct, frozen=True):
    """One question: its bins, the fullest first; how many answered in vote 1, and were sure and wrong;
    the same in vote 2 (``again``, of those who voted in both); who moved, and how many stayed."""

    key: str
    label: str
    unit: str
    required: bool
    answered: int
    sure_and_wrong: int
    again: int
    again_sure_and_wrong: int
    late: int
    bins: tuple[Bin, ...]
    moves: tuple[Move, ...]
    stayed: int


class Votes(msgspec.Struct, frozen=True):
    """What was voted; only made when the teacher looks at it. ``again`` is vote 2, with the late."""

    confidence: dict[int, int]
    confidence_again: dict[int, int]
    sure_and_wrong: int
    sure_and_wrong_again: int
    fields: tuple[FieldBoard, ...]
    whys: tuple[str, ...]


class Board(msgspec.Struct, frozen=True):
    """One exercise. ``locked`` learners locked vote 1, ``again`` of them vote 2 as well, ``late`` vote 2
    only. ``votes`` is None while nobody looks at them."""

    exercise: str
    title: str
    seen: int
    locked: int
    again: int
    late: int
    steps: tuple[tuple[str, int], ...]
    votes: Votes | None


class Ballots(msgspec.Struct, frozen=True):
    """First attempts: everything of vote 1, and vote 2 of those who voted before and of the late."""

    first: tuple[Prediction, ...]
    again: tuple[Prediction, ...]
    late: tuple[Prediction, ...]


def ballots_of(predictions: Iterable[Prediction]) -> Ballots:
    """The votes of a class on one exercise."""
    own = [one for one in predictions if one.place.attempt == 1]
    first = tuple(one for one in own if one.vote == 1)
    before = {one.place.learner for one in first}
    second = [one for one in own if one.vote == 2]
    again = tuple(one for one in second if one.place.learner in before)
    return Ballots(first, again, tuple(one for one in second if one.place.learner not in before))


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
    exercise, ballots = asked(name), ballots_of(predictions)
    counted = tuple((step, steps.get(step, 0)) for step in STEPS)
    return Board(
        exercise=name,
        title=title_of(name, language),
        seen=max(sum(steps.values()), len(ballots.first) + len(ballots.late)),
        locked=len(ballots.first),
        again=len(ballots.again),
        late=len(ballots.late),
        steps=counted,
        votes=_votes(name, ballots, judge, words, language) if show and exercise else None,
    )


def title_of(name: str, language: str) -> str:
    """What an exercise is called; of one that is gone, its name."""
    if name == TRANSFER:
        return design_words(language)("title")
    exercise = asked(name)
    return exercise.words(language)("title") if exercise else name


class Given(msgspec.Struct, frozen=True):
    """An answer to one question: whose, in which vote (``round`` 1, 2, or 3 for the late), how sure."""

    learner: str
    round: int
    sure: bool
    item: Judged

    @property
    def sure_and_wrong(self) -> bool:
        return self.sure and not self.item.right


def _votes(name: str, ballots: Ballots, judge: Judge, words: Catalogue, language: str) -> Votes:
    exercise = asked(name)
    assert exercise is not None
    texts = exercise.words(language)
    rounds = enumerate((ballots.first, ballots.again, ballots.late), 1)
    given = [
        Given(one.place.learner, number, is_sure(one), item)
        for number, votes in rounds
        for one in votes
        for item in judge.judged(one)
    ]
    second = (*ballots.again, *ballots.late)
    whys = [one.why for one in (*ballots.first, *second) if one.why.strip()]
    return Votes(
        confidence=_confidence(ballots.first),
        confidence_again=_confidence(second),
        sure_and_wrong=_people(one for one in given if one.round == 1 and one.sure_and_wrong),
        sure_and_wrong_again=_people(one for one in given if one.round > 1 and one.sure_and_wrong),
        fields=tuple(_field(field, given, texts, words) for field in fields(exercise)),
        whys=tuple(dict.fromkeys(whys))[-MOST_WHYS:],
    )


def _confidence(votes: Iterable[Prediction]) -> dict[int, int]:
    counted = Counter(one.confidence for one in votes)
    return {level: counted[level] for level in LEVELS}


def _people(given: Iterable[Given]) -> int:
    return len({one.learner for one in given})


def is_sure(prediction: Prediction) -> bool:
    return (prediction.confidence or 0) >= SURE


def _field(field: Field, all_given: Iterable[Given], texts: Catalogue, words: Catalogue) -> FieldBoard:
    given = [one for one in all_given if one.item.field.key == field.key]
    groups: dict[str, list[Given]] = {}
    for one in given:
        groups.setdefault(_group(one.item), []).append(one)
    bins = [_bin(group, members, texts, words) for group, members in groups.items()]
    moves, stayed = _moves(given, texts, words)
    return FieldBoard(
        key=field.key,
        label=field.label(texts),
        unit=field.unit,
        required=field.required,
        answered=_of(given, 1),
        sure_and_wrong=_of(given, 1, wrong=True),
        again=_of(given, 2),
        again_sure_and_wrong=_of(given, 2, wrong=True),
        late=_of(given, 3),
        bins=tuple(sorted(bins, key=lambda one: (-one.count - one.again - one.late, one.title))),
        moves=moves,
        stayed=stayed,
    )


def _of(given: Iterable[Given], number: int, *, wrong: bool = False) -> int:
    return sum(one.round == number and (one.sure_and_wrong or not wrong) for one in given)


def _moves(given: Iterable[Given], texts: Catalogue, words: Catalogue) -> tuple[tuple[Move, ...], int]:
    """Who gave another meaning in vote 2, the most first, and how many stayed with theirs."""
    first = {one.learner: _group(one.item) for one in given if one.round == 1}
    pairs = [
        (first[one.learner], _group(one.item)) for one in given if one.round == 2 and one.learner in first
    ]
    moved = Counter((before, after) for before, after in pairs if before != after)
    named = tuple(
        Move(_title(before, texts, words), _title(after, texts, words), count)
        for (before, after), count in moved.most_common()
    )
    return named, len(pairs) - moved.total()


def _group(item: Judged) -> str:
    return RIGHT if item.right else item.belief or OTHER


def _title(group: str, texts: Catalogue, words: Catalogue) -> str:
    return words(f"bin.{group}") if group in (RIGHT, OTHER) else texts(f"belief.{group}.title")


def _bin(group: str, members: list[Given], texts: Catalogue, words: Catalogue) -> Bin:
    return Bin(
        kind=group if group in (RIGHT, OTHER) else "belief",
        title=_title(group, texts, words),
        count=_of(members, 1),
        sure=sum(one.round == 1 and one.sure for one in members),
        again=_of(members, 2),
        again_sure=sum(one.round == 2 and one.sure for one in members),
        late=_of(members, 3),
        values=_values(members, texts),
    )


def _values(members: list[Given], texts: Catalogue) -> tuple[tuple[str, int, int], ...]:
    first: Counter[str] = Counter()
    second: Counter[str] = Counter()
    for one in members:
        votes = first if one.round == 1 else second
        votes[shown(one.item.given, one.item.field.unit, texts)] += 1
    most = (first + second).most_common(MOST_VALUES)
    return tuple((text, first[text], second[text]) for text, _ in most)
