from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.settings import Settings
from app.store import Store, open_store
from tests.databases import NEW_POSTGRESQL, SQLITE
from tests.serving import Serving, serving


@pytest.fixture
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Settings]:
    """Of a server with files and a database of its own: SQLite, or what ``tests.databases`` asks for."""
    kind = getattr(request, "param", SQLITE)
    if kind == SQLITE:
        yield Settings(data=tmp_path / "data")
        return
    cluster = request.getfixturevalue("cluster")
    if kind == NEW_POSTGRESQL:
        yield Settings(data=tmp_path / "data", database_url=cluster.url())
        return
    with cluster.lent() as url:
        yield Settings(data=tmp_path / "data", database_url=url)


@pytest.fixture
def store(settings: Settings) -> Iterator[Store]:
    opened = open_store(settings)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """One server for all tests that only ask it things. Whatever they asked, nothing may have gone wrong."""
    with serving(tmp_path_factory.mktemp("lab")) as server:
        yield server
        assert server.faults() == [], server.log.read_text()
