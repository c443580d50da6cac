from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from sqlalchemy import Engine

from app.settings import Settings
from app.store.database import engine_of
from tests.databases import SQLITE


@pytest.fixture
def new_engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[str], Engine]]:
    """Makes an empty database of the kind it is given, and an engine for it."""
    made: list[Engine] = []

    with ExitStack() as lent:

        def make(kind: str) -> Engine:
            url = None
            if kind != SQLITE:
                url = lent.enter_context(request.getfixturevalue("cluster").lent(tables=False))
            made.append(engine_of(Settings(data=tmp_path / f"data{len(made)}", database_url=url)))
            return made[-1]

        yield make
        for engine in made:
            engine.dispose()
