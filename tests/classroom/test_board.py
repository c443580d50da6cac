"""What the board counts, and what an export holds."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.classroom.board import Board, ballots_of, board_of
from app.classroom.exports import HEAD, as_csv, as_json, harmless
from app.classroom.judging import Judge
from app.classroom.poll import Question, Row, poll_of
from app.classroom.words import class_words
from app.settings import Settings
from app.store import Place, Progress, Store, open_store
from puzzles import load, solve
from tests.classroom.running import lock, right_answers

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


def second(store: Store, number: int, *, confidence: int = 2, **wrong: Any) -> None:
    """Vote 2 of learner ``number``."""
    answers = right_answers(**wrong)
    store.lock(Place(f"{number:032x}", "main", 1), answers, confidence=confidence, why="", vote=2)


def test_later_attempts_are_no_first_thoughts(store: Store) -> None:
    lock(store, 1)
    store.lock(Place(f"{1:032x}", "main", 2), {FIELD: 5.0}, confidence=1, why="")
    assert board(store).locked == 1
    assert bins(store) == {"right": (1, 0)}


def test_both_votes_stand_side_by_side_and_the_late_are_counted_apart(store: Store) -> None:
    for number in (1, 2, 3):
        lock(store, number, confidence=4, static__R02__ttft=77.7)
    lock(store, 4)
    second(store, 1, confidence=4)
    second(store, 2)
    second(store, 3, confidence=4, static__R02__ttft=88.8)
    second(store, 9, static__R02__ttft=66.6)  # was not there for vote 1
    found = board(store)
    assert (found.locked, found.again, found.late) == (4, 3, 1)
    assert found.votes is not None
    field = next(field for field in found.votes.fields if field.key == FIELD)
    by_kind = {one.kind: (one.count, one.again, one.late) for one in field.bins}
    assert by_kind == {"right": (1, 2, 0), "other": (3, 1, 1)}
    assert [(move.before, move.after, move.count) for move in field.moves] == [("another number", "right", 2)]
    assert field.stayed == 1
    assert (field.sure_and_wrong, field.again_sure_and_wrong) == (3, 1)
    assert found.votes.confidence == {1: 0, 2: 1, 3: 0, 4: 3}
    assert found.votes.confidence_again == {1: 0, 2: 2, 3: 0, 4: 2}
    assert (found.votes.sure_and_wrong, found.votes.sure_and_wrong_again) == (3, 1)


def test_a_room_sees_answers_and_learns_what_is_right_only_when_it_is_told(store: Store) -> None:
    lock(store, 1)
    lock(store, 2, static__R02__ttft=77.7)
    second(store, 2)
    ballots = ballots_of(store.predictions())
    question = next(one for one in poll_of("main", ballots, "en", tell=False) if "static" in one.label)
    rows = {row.text: (row.first, row.second, row.right) for row in question.rows}
    assert rows == {"1.20 s": (1, 1, None), "77.70 s": (1, 0, None)}
    told = next(one for one in poll_of("main", ballots, "en", tell=True) if "static" in one.label)
    assert {row.text: row.right for row in told.rows} == {"1.20 s": True, "77.70 s": False}
    assert {row.belief for row in (*question.rows, *told.rows)} == {""}


def test_a_room_learns_the_belief_behind_a_wrong_answer_with_the_verdict(store: Store) -> None:
    lock(store, 1, static__R02__ttft=1.3)
    lock(store, 2)

    def beliefs(*, tell: bool) -> dict[str, str]:
        votes = poll_of("main", ballots_of(store.predictions()), "en", tell=tell)
        return {row.text: row.belief for one in votes if "static" in one.label for row in one.rows}

    assert beliefs(tell=False) == {"1.30 s": "", "1.20 s": ""}
    assert beliefs(tell=True) == {"1.30 s": "The clock starts at the arrival", "1.20 s": ""}


def test_a_room_is_shown_the_most_frequent_answers_and_how_many_others_there_are(store: Store) -> None:
    for number in range(20):
        lock(store, number, static__R02__ttft=50.0 + number // 2)
    question = next(
        one
        for one in poll_of("main", ballots_of(store.predictions()), "en", tell=False)
        if "static" in one.label
    )
    assert (len(question.rows), question.others, question.first) == (6, 8, 20)
    assert poll_of("gone", ballots_of(()), "en", tell=True) == ()


def test_what_is_right_is_told_even_when_few_or_none_gave_it(store: Store) -> None:
    for number in range(14):
        lock(store, number, static__R02__ttft=50.0 + number // 2)

    def told() -> Question:
        votes = poll_of("main", ballots_of(store.predictions()), "en", tell=True)
        return next(one for one in votes if "static" in one.label)

    assert (told().rows[-1], told().others) == (Row("1.20 s", 0, 0, True), 2)
    lock(store, 20)
    assert (told().rows[-1], told().others) == (Row("1.20 s", 1, 0, True), 2)
    assert sum(row.first for row in told().rows) + told().others == 15


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


def test_nicknames_are_in_an_export_only_when_asked_for_and_run_nothing(store: Store) -> None:
    lock(store, 1)
    lock(store, 2)
    names = {f"{1:032x}": "=cmd()"}
    assert "nickname" not in rows(store)[0]
    assert b"cmd" not in as_csv(store.predictions(), Judge()) + as_json(store.predictions(), Judge())
    named = list(csv.DictReader(io.StringIO(as_csv(store.predictions(), Judge(), names).decode("utf-8-sig"))))
    assert {(row["learner"], row["nickname"]) for row in named} == {("1", "'=cmd()"), ("2", "")}
    found = json.loads(as_json(store.predictions(), Judge(), names))
    assert [one["nickname"] for one in found] == ["=cmd()", ""]


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
