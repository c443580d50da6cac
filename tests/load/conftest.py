from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.serving import Serving, serving


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """One server for all tests that only ask it things. Whatever they asked, nothing may have gone wrong."""
    with serving(tmp_path_factory.mktemp("load")) as server:
        yield server
        assert server.faults() == [], server.log.read_text()
