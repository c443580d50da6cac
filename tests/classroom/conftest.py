from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.classroom.keys import Keys, keys_in
from tests.classroom.running import ClassServing


@pytest.fixture(scope="session")
def school(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClassServing]:
    """One ``python -m app`` for all tests that only ask it things. Nothing may go wrong meanwhile."""
    server = ClassServing(tmp_path_factory.mktemp("school"))
    try:
        server.start()
        yield server
        assert server.faults() == [], server.log.read_text()
    finally:
        server.stop()


@pytest.fixture(scope="session")
def keys(school: ClassServing) -> Keys:
    return keys_in(school.folder / "data")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data"
