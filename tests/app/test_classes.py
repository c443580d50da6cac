"""Classes in the store: who is in one, what was decided, and what is left when one is deleted: nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import func, select

from app.store import Classes, Draft, Place, Progress, Store, schema

A, B, C = ("a" * 32, "b" * 32, "c" * 32)


@pytest.fixture
def classes(store: Store) -> Classes:
    return store.classes


def traces(store: Store, learner: str) -> int:
    """Rows that say anything about the learner, in whatever table."""
    found = 0
    with store.engine.connect() as connection:
        for table in schema.metadata.tables.values():
            if "learner" in table.c:
                asked = select(func.count()).select_from(table).where(table.c.learner == learner)
                found += connection.execute(asked).scalar_one()
    return found


def work(store: Store, learner: str) -> None:
    """Leave something in every table."""
    place = Place(learner, "main", 1)
    store.begin(place, None)
    store.save_draft(place, Draft({"x": "1"}))
    store.lock(place, {"x": 1.0}, confidence=1, why="")
    store.save_progress(place, Progress("run"))


def test_a_store_begins_without_a_class(classes: Classes) -> None:
    assert classes.current() is None
    assert classes.all() == []
    assert classes.member(A) is None


def test_a_new_class_ends_the_one_before(classes: Classes) -> None:
    first = classes.start("5b")
    assert classes.current() == first
    second = classes.start("6c")
    assert classes.current() == second
    assert [(one.name, one.ended is None, members) for one, members in classes.all()] == [
        ("6c", True, 0),
        ("5b", False, 0),
    ]


def test_a_learner_is_in_one_class(classes: Classes) -> None:
    first = classes.start()
    assert classes.join(A, first.id)
    assert classes.join(A, first.id)  # once more does nothing
    second = classes.start()
    assert not classes.join(A, second.id)
    assert classes.join(B, second.id)
    assert [one.learner for one in classes.members(first.id)] == [A]
    assert [one.learner for one in classes.members(second.id)] == [B]


def test_a_nickname_is_one_line_and_may_be_taken_back(classes: Classes) -> None:
    classes.join(A, classes.start().id)
    for given, kept in (
        ("  Ada\n\t Lovelace ", "Ada Lovelace"),
        ("x" * 100, "x" * 40),
        ("小明", "小明"),
        (" ", None),
    ):
        classes.call(A, given)
        found = classes.member(A)
        assert found is not None
        assert found.nickname == kept


def test_the_newest_decision_of_a_class_and_an_exercise_counts(classes: Classes) -> None:
    first = classes.start()
    classes.decide(first.id, "phase", "vote1", exercise="main")
    classes.decide(first.id, "phase", "closed", exercise="itl")
    classes.decide(first.id, "tick", 3, exercise="main")
    classes.decide(first.id, "phase", "run", exercise="main")
    classes.decide(first.id, "reading", True)
    found = classes.decided(first.id)
    assert found.of("main") == {"phase": "run", "tick": 3}
    assert found.of("itl") == {"phase": "closed"}
    assert found.of("") == {"reading": True}
    assert (found.newest, found.ended) == ("main", False)
    assert classes.decided(first.id, exercise="itl").values.keys() == {"itl"}
    assert classes.decided(classes.start().id).values == {}


def test_the_mark_changes_with_every_decision_and_with_nothing_else(store: Store, classes: Classes) -> None:
    first = classes.start()
    marks = [classes.mark()]
    for act in (
        lambda: classes.decide(first.id, "phase", "vote1", exercise="main"),
        lambda: classes.decide(first.id, "phase", "vote1", exercise="main"),
        lambda: classes.end(first.id),
        lambda: classes.resume(first.id),
    ):
        act()
        marks.append(classes.mark())
    assert len(set(marks)) == len(marks)
    classes.join(A, first.id)
    work(store, A)
    assert classes.mark() == marks[-1]


def test_a_class_that_has_ended_or_is_gone_says_so(classes: Classes) -> None:
    first = classes.start()
    classes.end(first.id)
    assert classes.current() is None
    assert classes.decided(first.id).ended
    classes.resume(first.id)
    assert not classes.decided(first.id).ended
    assert classes.current() is not None
    assert classes.decided(12345).ended


def test_going_on_with_a_class_ends_the_other(classes: Classes) -> None:
    first, second = classes.start("one"), classes.start("two")
    classes.resume(first.id)
    current = classes.current()
    assert current is not None
    assert current.id == first.id
    assert classes.decided(second.id).ended


def test_deleting_a_class_leaves_nothing_of_its_learners_and_all_of_the_others(
    store: Store, classes: Classes
) -> None:
    first = classes.start("gone")
    classes.join(A, first.id)
    second = classes.start("kept")
    classes.join(B, second.id)
    for learner in (A, B, C):
        work(store, learner)
    classes.decide(first.id, "phase", "run", exercise="main")
    classes.decide(second.id, "phase", "run", exercise="main")
    others = traces(store, B), traces(store, C)
    classes.delete(first.id)
    assert traces(store, A) == 0
    assert (traces(store, B), traces(store, C)) == others
    assert [one.name for one, _ in classes.all()] == ["kept"]
    assert classes.decided(first.id).values == {}
    assert classes.decided(second.id).of("main") == {"phase": "run"}


def test_a_class_that_goes_on_is_not_deleted(store: Store, classes: Classes) -> None:
    first = classes.start()
    classes.join(A, first.id)
    with pytest.raises(ValueError, match="goes on"):
        classes.delete(first.id)
    assert classes.member(A) is not None
    classes.delete(999)  # what is gone is gone


def test_a_class_expires_when_its_days_are_over(store: Store) -> None:
    now = [datetime(2030, 1, 1, tzinfo=UTC)]
    classes = Classes(store.engine, lambda: now[0])
    old, kept = classes.start("old", keep_days=30), classes.start("for ever")
    classes.join(A, old.id)
    work(store, A)
    now[0] += timedelta(days=29)
    assert classes.delete_expired() == []
    now[0] += timedelta(days=2)
    current = classes.start("young", keep_days=1)
    assert classes.delete_expired() == [old.id]
    assert traces(store, A) == 0
    now[0] += timedelta(days=9)
    assert classes.delete_expired() == []  # the one that goes on stays
    assert [one.id for one, _ in classes.all()] == [current.id, kept.id]


def test_the_board_counts_a_class_and_nobody_else(store: Store, classes: Classes) -> None:
    first = classes.start()
    classes.join(A, first.id)
    for learner in (A, B):
        work(store, learner)
    assert [one.place.learner for one in store.predictions(class_id=first.id)] == [A]
    assert store.first_attempts(class_id=first.id) == {"main": {"run": 1}}
    assert store.first_attempts() == {"main": {"run": 2}}


# ---- two votes -------------------------------------------------------------------------------------


def test_a_draft_of_the_second_vote_is_kept_after_the_first_lock(store: Store) -> None:
    place = Place(A, "main", 1)
    store.save_draft(place, Draft({"x": "1"}))
    store.lock(place, {"x": 1.0}, confidence=1, why="")
    assert not store.save_draft(place, Draft({"x": "9"}))
    assert store.save_draft(place, Draft({"x": "2"}, vote=2))
    assert store.draft(place) == Draft({"x": "2"}, vote=2)
    store.lock(place, {"x": 2.0}, confidence=1, why="", vote=2)
    assert not store.save_draft(place, Draft({"x": "3"}, vote=2))
    assert [(one.vote, one.answers) for one in store.votes(place)] == [(1, {"x": 1.0}), (2, {"x": 2.0})]


@pytest.mark.parametrize("value", [True, False, None, 7, "vote1", {"a": [1]}])
def test_a_decision_may_be_any_plain_value(classes: Classes, value: Any) -> None:
    first = classes.start()
    classes.decide(first.id, "x", value)
    assert classes.decided(first.id).of("") == {"x": value}
