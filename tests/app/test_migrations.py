"""The way up: a database of any earlier version, with rows in it, comes to the newest with all of them."""

from __future__ import annotations

import pytest

from app.settings import Settings
from app.store import Place, open_store, schema
from app.store.database import engine_of, known_revisions, revision, upgrade
from tests.databases import both_new
from tests.rows import content, fill


@both_new
@pytest.mark.parametrize("start", known_revisions())
def test_every_row_survives_the_way_up(settings: Settings, start: str) -> None:
    """Columns that are new there may have been added to a row; what was in it is in it still."""
    engine = engine_of(settings)
    upgrade(engine, start)
    assert revision(engine) == start
    before = fill(engine, 3)
    assert before.keys() >= {"attempts", "predictions", "drafts", "progress"}
    engine.dispose()
    store = open_store(settings)
    assert revision(store.engine) == schema.HEAD
    after = content(store.engine)
    store.close()
    for name, rows in before.items():
        for old, new in zip(rows, after[name], strict=True):
            assert {key: value for key, value in new.items() if key in old} == old


@both_new
def test_a_migrated_database_goes_on_counting(settings: Settings) -> None:
    """The store of today adds to what the first version made."""
    engine = engine_of(settings)
    upgrade(engine, known_revisions()[0])
    engine.dispose()
    store = open_store(settings)
    first = store.lock(Place("a" * 32, "main", 1), {"x": 1}, confidence=None, why="")
    second = store.lock(Place("b" * 32, "main", 1), {"x": 2}, confidence=None, why="")
    assert store.predictions() == [first, second]
    store.close()


def test_every_table_of_every_version_is_known() -> None:
    """A backup of any version holds all of it: tables are never renamed without the backup's knowing."""
    from app.backup.checking import row_types

    for one in known_revisions():
        assert row_types(one).keys() <= schema.metadata.tables.keys()
    assert row_types(schema.HEAD).keys() == schema.metadata.tables.keys()
