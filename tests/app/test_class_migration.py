"""A database of an older schema, with data in it, is brought up to date and loses nothing."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import Engine, select, text

from app.settings import Settings
from app.store import Store, open_store, schema
from app.store.database import MIGRATIONS, make_engine, private_file, revision

WHEN = "2026-01-02 03:04:05.000000"
LEARNERS = ("a" * 32, "b" * 32)


def config(engine: Engine) -> Config:
    made = Config()
    made.set_main_option("script_location", str(MIGRATIONS))
    made.attributes["engine"] = engine
    return made


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    made = make_engine(private_file(tmp_path))
    yield made
    made.dispose()


def fill(engine: Engine, *, decisions: tuple[bool, ...] = ()) -> None:
    """What two learners left behind, and what was decided."""
    with engine.begin() as connection:

        def put(statement: str, **values: Any) -> None:
            connection.execute(text(statement), values)

        for learner in LEARNERS:
            put("insert into attempts values (:one, 'main', 1, null, :at)", one=learner, at=WHEN)
            put(
                "insert into predictions values (null, :one, 'main', 1, 1, '{\"x\": 1.5}', 3, 'é', :at)",
                one=learner,
                at=WHEN,
            )
        put(
            "insert into drafts values (:one, 'main', 2, '{\"x\": \"7\"}', null, '', :at)",
            one="c" * 32,
            at=WHEN,
        )
        for value in decisions:
            put("insert into decisions values (null, 'reading', :value, :at)", value=value, at=WHEN)


def upgraded(engine: Engine, folder: Path) -> Store:
    engine.dispose()
    store = open_store(Settings(data=folder))
    assert revision(store.engine) == schema.HEAD
    return store


def rows(store: Store, table: Any) -> list[dict[str, Any]]:
    with store.engine.connect() as connection:
        return [dict(row) for row in connection.execute(select(table)).mappings()]


@pytest.mark.parametrize("start", ["0001", "0002"])
def test_what_was_locked_is_there_after_the_upgrade(engine: Engine, tmp_path: Path, start: str) -> None:
    command.upgrade(config(engine), start)
    fill(engine, decisions=(True, False, True) if start == "0002" else ())
    store = upgraded(engine, tmp_path)
    assert [(one.place.learner, one.answers, one.why) for one in store.predictions()] == [
        (learner, {"x": 1.5}, "é") for learner in LEARNERS
    ]
    assert [(row["answers"], row["vote"]) for row in rows(store, schema.drafts)] == [({"x": "7"}, 1)]
    found = [row["value"] for row in rows(store, schema.decisions)]
    assert found == ([True, False, True] if start == "0002" else [])
    store.close()


def test_everybody_so_far_is_in_one_class_of_the_past(engine: Engine, tmp_path: Path) -> None:
    command.upgrade(config(engine), "0002")
    fill(engine)
    store = upgraded(engine, tmp_path)
    (past,) = rows(store, schema.classes)
    assert past["ended"] is not None
    assert {row["learner"] for row in rows(store, schema.members)} == {*LEARNERS, "c" * 32}
    assert {row["class_id"] for row in rows(store, schema.members)} == {past["id"]}
    store.close()


def test_old_decisions_keep_their_moment_and_belong_to_no_class(engine: Engine, tmp_path: Path) -> None:
    command.upgrade(config(engine), "0002")
    fill(engine, decisions=(True,))
    store = upgraded(engine, tmp_path)
    (row,) = rows(store, schema.decisions)
    assert row["made"] == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert (row["class_id"], row["exercise"]) == (None, None)
    store.close()


def test_an_empty_database_begins_without_a_class(engine: Engine, tmp_path: Path) -> None:
    store = upgraded(engine, tmp_path)
    assert rows(store, schema.classes) == []
    store.close()


def test_there_is_a_way_back_to_the_schema_before(engine: Engine, tmp_path: Path) -> None:
    command.upgrade(config(engine), "0002")
    fill(engine, decisions=(True, False))
    upgraded(engine, tmp_path).close()
    again = make_engine(private_file(tmp_path))
    command.downgrade(config(again), "0002")
    with again.connect() as connection:
        assert list(connection.execute(text("select value from decisions order by id")).scalars()) == [1, 0]
        assert connection.execute(text("select count(*) from predictions")).scalar() == 2
    again.dispose()
