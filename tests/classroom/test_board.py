"""What the board counts, and what an export holds."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.classroom.board import Board, board_of
from app.classroom.exports import HEAD, as_csv, as_json, harmless
from app.classroom.judging import Judge
from app.classroom.words import class_words
from app.settings import Settings
from app.store import Place, Progress, Store, open_store
from puzzles import load, solve
from tests.classroom.running import lock

FIELD = "static.R02.ttft"


@pytest.fixture
def store(folder: Path) -> Iterator[Store]:
    opened = open_store(Settings(data=folder))
    yield opened
    opened.close()


def board(store: Store, *, show: bool = True, language: str = "en") -> Board:
    steps = store.first_attempts().get("main", {})
    words = class_words(language)
    return board_of("main", store.predictions(), steps, Judge(), words, language=language, show=show)


def bins(store: Store, key: str = FIELD) -> dict[str, tuple[int, int]]:
    found = board(store).votes
    assert found is not None
    field = next(field for field in found.fields if field.key == key)
    return {one.title if one.kind == "belief" else one.kind: (one.count, one.sure) for one in field.bins}


def test_an_empty_class_has_an_empty_board(store: Store) -> None:
    found = board(store)
    assert (found.locked, found.seen) == (0, 0)
    assert found.votes is not None
    assert all(field.answered == 0 for field in found.votes.fields)


def test_the_bins_are_beliefs(store: Store) -> None:
    truth = solve(load("main"))
    continuous = truth["continuous.R02.ttft"]
    lock(store, 1, confidence=4)
    lock(store, 2, confidence=1)
    lock(store, 3, confidence=3, static__R02__ttft=continuous)
    lock(store, 4, confidence=None, static__R02__ttft=77.7)
    belief = load("main").words("en")("belief.static_is_continuous.title")
    assert bins(store) == {"right": (2, 1), belief: (1, 1), "other": (1, 0)}
    found = board(store)
    assert found.votes is not None
    assert found.votes.confidence == {1: 1, 2: 0, 3: 1, 4: 1}
    assert found.votes.sure_and_wrong == 1
    field = next(field for field in found.votes.fields if field.key == FIELD)
    assert (field.answered, field.sure_and_wrong) == (4, 1)


def test_hidden_votes_are_not_even_counted(store: Store) -> None:
    lock(store, 1)
    found = board(store, show=False)
    assert found.votes is None
    assert found.locked == 1


def test_later_attempts_and_votes_are_no_first_thoughts(store: Store) -> None:
    lock(store, 1)
    store.lock(Place(f"{1:032x}", "main", 2), {FIELD: 5.0}, confidence=1, why="")
    store.lock(Place(f"{1:032x}", "main", 1), {FIELD: 5.0}, confidence=1, why="", vote=2)
    assert board(store).locked == 1
    assert bins(store) == {"right": (1, 0)}


def test_who_is_where(store: Store) -> None:
    for number, step in enumerate(("predict", "predict", "run")):
        store.save_progress(Place(f"{number:032x}", "main", 1), Progress(step))
    store.save_progress(Place(f"{9:032x}", "main", 2), Progress("run"))
    found = board(store)
    assert dict(found.steps) == {"read": 0, "predict": 2, "run": 1, "observe": 0, "verdict": 0, "again": 0}
    assert found.seen == 3


def test_both_languages_have_a_board(store: Store) -> None:
    lock(store, 1, static__R02__ttft=77.7)
    found = board(store, language="zh")
    assert found.votes is not None
    assert {one.title for field in found.votes.fields for one in field.bins} >= {"正确", "其他答案"}


def test_an_exercise_that_is_gone_is_counted_and_not_judged(store: Store) -> None:
    store.lock(Place("a" * 32, "gone", 1), {"x": 1.0}, confidence=4, why="")
    words = class_words("en")
    found = board_of("gone", store.predictions(), {}, Judge(), words, language="en", show=True)
    assert (found.title, found.locked, found.votes) == ("gone", 1, None)


# ---- exports -------------------------------------------------------------------------------------


def rows(store: Store) -> list[dict[str, str]]:
    text = as_csv(store.predictions(), Judge()).decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text)))


def test_csv_has_a_row_for_each_answer_and_no_learners_name(store: Store) -> None:
    lock(store, 0xABC, confidence=3, why="短的会等", static__R02__ttft=77.7)
    lock(store, 0xDEF)
    found = rows(store)
    assert tuple(found[0]) == HEAD
    assert {row["learner"] for row in found} == {"1", "2"}
    wrong = next(row for row in found if row["field"] == FIELD and row["learner"] == "1")
    assert (wrong["answer"], wrong["right"], wrong["why"]) == ("77.7", "False", "短的会等")
    assert b"abc" not in as_csv(store.predictions(), Judge())
    assert b"000abc" not in as_json(store.predictions(), Judge())


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "\n=1"])
def test_no_text_of_a_learner_becomes_a_formula(store: Store, text: str) -> None:
    assert harmless(text) == f"'{text}"
    store.lock(Place("a" * 32, "main", 1), {"p95.best": text}, confidence=1, why=text)
    row = rows(store)[0]
    assert row["why"].startswith("'")
    assert row["answer"].startswith("'")


def test_numbers_stay_numbers() -> None:
    assert harmless(-0.5) == -0.5
    assert harmless(None) is None
    assert harmless("1.2") == "1.2"


def test_a_lock_without_answers_has_a_row(store: Store) -> None:
    store.lock(Place("a" * 32, "main", 1), {}, confidence=None, why="")
    assert [row["field"] for row in rows(store)] == [""]


def test_json_has_everything_in_the_order_of_the_locks(store: Store) -> None:
    lock(store, 2, why="first")
    lock(store, 1, why="second", confidence=4)
    found: list[dict[str, Any]] = json.loads(as_json(store.predictions(), Judge()))
    assert [one["why"] for one in found] == ["first", "second"]
    assert [one["learner"] for one in found] == [1, 2]
    assert all(answer["right"] for one in found for answer in one["answers"])
