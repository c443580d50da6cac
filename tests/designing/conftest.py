from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.designing.guest import Guest
from tests.serving import Serving, serving


@pytest.fixture(scope="session")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """One server for all of these tests. Whatever they ask, nothing may go wrong on it."""
    with serving(tmp_path_factory.mktemp("desk")) as server:
        yield server
        assert server.faults() == [], server.log.read_text()


@pytest.fixture
def guest(desk: Serving) -> Guest:
    """A new learner, at the task."""
    return Guest(desk.url)
