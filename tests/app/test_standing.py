"""How far a learner is: the mark of each exercise, the path, and where to go on."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.pages.contents import MAIN
from app.pages.standing import MARKS, SIGNS, all_right, standing
from app.store import Visit
from app.words import app_words
from engine.words import LANGUAGES
from puzzles import fields, load, names, solve
from puzzles.course import course, following

PATH = next(room.exercises for room in course().rooms if room.name == "path")
SEED = 7


def visit(exercise: str, attempt: int = 1, *, minute: int = 0, **more: Any) -> Visit:
    values: dict[str, Any] = {"seed": None, "answers": None, "revealed": False} | more
    return Visit(
        exercise, attempt, moment=datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=minute), **values
    )


def right_answers(name: str, seed: int | None) -> dict[str, Any]:
    exercise = load(name).variant(seed)
    correct = solve(exercise)
    return {field.key: correct[field.key] for field in fields(exercise) if field.required}


@pytest.mark.parametrize(
    ("visits", "mark"),
    [
        ([visit("tpot")], "begun"),
        ([visit("tpot", answers={"static.R02.tpot": 9.0})], "locked"),
        ([visit("tpot", answers={}, revealed=True)], "seen"),
        ([visit("tpot", answers={}, revealed=True), visit("tpot", 2, seed=SEED)], "seen"),
        ([visit("tpot", answers={}, revealed=True), visit("tpot", 2, seed=SEED, answers={})], "seen"),
        ([visit("tpot", 2, seed=SEED, answers={}, revealed=True)], "seen"),
        ([visit("tpot", answers=right_answers("tpot", None), revealed=True)], "seen"),  # the first is data
        ([visit("tpot", 2, seed=SEED, answers=right_answers("tpot", SEED), revealed=True)], "right"),
        (
            [visit("tpot", 2, seed=SEED, answers=right_answers("tpot", SEED))],
            "seen",
        ),  # not before the verdict
    ],
)
def test_an_exercise_has_the_farthest_mark(visits: list[Visit], mark: str) -> None:
    for order in (visits, visits[::-1]):
        assert standing(order).marks == {"tpot": mark}


def test_one_wrong_answer_is_not_all_right() -> None:
    answers = right_answers("tokens-no-faster", SEED)
    assert all_right("tokens-no-faster", SEED, answers)
    for key, value in answers.items():
        wrong = value + 1 if isinstance(value, float) else "falls" if value != "falls" else "rises"
        assert not all_right("tokens-no-faster", SEED, answers | {key: wrong}), key
        assert not all_right("tokens-no-faster", SEED, {k: v for k, v in answers.items() if k != key}), key


def test_the_path_counts_verdicts() -> None:
    walked = [visit(name, answers={}, revealed=True) for name in PATH[:4]]
    assert standing([*walked, visit(PATH[4]), visit("main", answers={}, revealed=True)]).path() == (4, 9)
    assert standing([]).path() == (0, 9)


def test_one_goes_on_where_one_was_or_with_the_next() -> None:
    assert standing([]).going_on() is None
    here = standing([visit("tpot", minute=5), visit("main", minute=2)])
    assert (here.last, here.going_on()) == ("tpot", "tpot")
    done = standing([visit("tpot", minute=5, answers={}, revealed=True)])
    assert done.going_on() == following("tpot") == "short-prompt"
    end = names()[-1]
    assert standing([visit(end, answers={}, revealed=True)]).going_on() is None


def test_every_exercise_is_followed_by_another_but_the_last() -> None:
    order = names()
    assert [following(name) for name in order] == [*order[1:], None]
    assert following("claims") == MAIN
    with pytest.raises(ValueError, match="not in"):
        following("nothing")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_mark_has_a_sign_and_a_word(language: str) -> None:
    words = app_words(language)
    assert len({SIGNS[mark] for mark in MARKS}) == len({words(f"mark.{mark}") for mark in MARKS}) == 4
