"""What the store keeps, and that doing a thing twice does it once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import event, func, select

from app.store import Draft, Place, Progress, Store, schema
from tests.databases import both

pytestmark = both
PLACE = Place("a" * 32, "main", 1)
ANSWERS = {"static.R02.ttft": 1.2, "p95.best": "continuous"}


def rows(store: Store) -> int:
    with store.engine.connect() as connection:
        return connection.execute(select(func.count()).select_from(schema.predictions)).scalar_one()


def lock(store: Store, place: Place = PLACE, **changes: object):
    values = {"answers": ANSWERS, "confidence": 3, "why": "短的会等"} | changes
    return store.lock(place, values.pop("answers"), **values)


def test_an_empty_store_knows_nobody(store: Store) -> None:
    assert store.latest(PLACE.learner, "main") is None
    assert store.draft(PLACE) == Draft()
    assert store.prediction(PLACE) is None
    assert store.progress(PLACE) == Progress()


def test_a_lock_is_kept_as_it_was_given(store: Store) -> None:
    locked = lock(store)
    assert locked == store.prediction(PLACE)
    assert locked.answers == ANSWERS
    assert (locked.confidence, locked.why, locked.vote) == (3, "短的会等", 1)
    assert datetime.now(UTC) - locked.locked < timedelta(minutes=1)


def test_the_first_lock_counts_and_the_second_changes_nothing(store: Store) -> None:
    first = lock(store)
    assert lock(store, answers={"static.R02.ttft": 9.0}, why="other", confidence=1) == first
    assert rows(store) == 1


def test_a_second_vote_is_a_row_of_its_own(store: Store) -> None:
    lock(store)
    second = lock(store, answers={"static.R02.ttft": 0.3}, vote=2)
    assert second.vote == 2
    assert store.prediction(PLACE, vote=2) == second
    assert store.prediction(PLACE).answers == ANSWERS
    assert rows(store) == 2


def test_empty_is_not_zero(store: Store) -> None:
    assert lock(store, answers={}, confidence=None, why="").answers == {}


@pytest.mark.parametrize(
    "other", [Place("b" * 32, "main", 1), Place("a" * 32, "second", 1), Place("a" * 32, "main", 2)]
)
def test_places_do_not_mix(store: Store, other: Place) -> None:
    lock(store)
    store.save_draft(other, Draft({"x": "1"}))
    store.save_progress(other, Progress("predict"))
    assert store.prediction(other) is None
    assert store.draft(PLACE) == Draft()
    assert store.progress(PLACE) == Progress()


def test_a_draft_replaces_the_last_one_until_the_lock(store: Store) -> None:
    assert store.save_draft(PLACE, Draft({"x": "1"}, 2, "because"))
    assert store.save_draft(PLACE, Draft({"x": "1.5"}))
    assert store.draft(PLACE) == Draft({"x": "1.5"})
    lock(store)
    assert not store.save_draft(PLACE, Draft({"x": "2"}))
    assert store.draft(PLACE) == Draft({"x": "1.5"})


def test_progress_goes_forward(store: Store) -> None:
    for progress in (
        Progress("run", 3, 5),
        Progress("verdict", None, 19, {"text": "1.1", "value": 1.1}, True),
    ):
        assert store.save_progress(PLACE, progress) == progress
        assert store.progress(PLACE) == progress


def test_an_older_tab_takes_nobody_back(store: Store) -> None:
    seen = {"text": "1.1", "value": 1.1}
    store.save_progress(PLACE, Progress("verdict", 18, 19, seen, True))
    farther = store.save_progress(PLACE, Progress("run", 2, 4, {"text": "9", "value": 9.0}, False))
    assert farther == store.progress(PLACE) == Progress("verdict", 2, 19, seen, True)


def test_an_attempt_begins_once(store: Store) -> None:
    first = store.begin(PLACE, None)
    assert store.begin(PLACE, 7) == first
    second = store.begin(Place(PLACE.learner, "main", 2), 7)
    assert store.latest(PLACE.learner, "main") == second
    assert second.seed == 7


def test_many_hands_at_one_lock(store: Store) -> None:
    with ThreadPoolExecutor(8) as hands:
        found = list(hands.map(lambda n: lock(store, answers={"x": float(n)}), range(40)))
    assert len({prediction.answers["x"] for prediction in found}) == 1
    assert rows(store) == 1


def test_many_learners_at_once(store: Store) -> None:
    places = [Place(f"{n:032x}", "main", 1) for n in range(60)]

    def whole(place: Place) -> None:
        store.begin(place, None)
        store.save_draft(place, Draft({"x": place.learner}))
        lock(store, place, answers={"x": place.learner})
        store.save_progress(place, Progress("run"))

    with ThreadPoolExecutor(8) as hands:
        list(hands.map(whole, places))
    assert rows(store) == 60
    for place in places:
        assert store.prediction(place).answers == {"x": place.learner}


def test_ping_tells_a_database_that_is_gone(store: Store) -> None:
    store.ping()


# ---- what a learner has begun ----------------------------------------------------------------------


def test_visits_are_every_attempt_of_one_learner(store: Store) -> None:
    assert store.visits(PLACE.learner) == []
    again, other = Place(PLACE.learner, "main", 2), Place(PLACE.learner, "tpot", 1)
    store.begin(PLACE, None)
    store.begin(again, 7)
    store.begin(other, None)
    store.begin(Place("b" * 32, "main", 1), None)
    lock(store)
    store.save_progress(PLACE, Progress(step="verdict", known=19, revealed=True))
    found = {(one.exercise, one.attempt): one for one in store.visits(PLACE.learner)}
    assert found.keys() == {("main", 1), ("main", 2), ("tpot", 1)}
    first, second = found["main", 1], found["main", 2]
    assert (first.answers, first.revealed, first.seed) == (ANSWERS, True, None)
    assert (second.answers, second.revealed, second.seed) == (None, False, 7)
    assert first.moment.tzinfo is not None


def test_the_last_vote_counts_and_is_no_visit_of_its_own(store: Store) -> None:
    store.begin(PLACE, None)
    lock(store)
    lock(store, answers={"static.R02.ttft": 0.3}, vote=2)
    (only,) = store.visits(PLACE.learner)
    assert only.answers == {"static.R02.ttft": 0.3}


def test_visits_take_one_query(store: Store) -> None:
    asked = []
    event.listen(store.engine, "before_cursor_execute", lambda *args: asked.append(args[2]))
    for number in range(3):
        store.begin(Place(PLACE.learner, "main", number + 1), None)
    asked.clear()
    store.visits(PLACE.learner)
    assert len([one for one in asked if one.lower().startswith("select")]) == 1
