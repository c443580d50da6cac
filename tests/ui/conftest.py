"""A real Chromium and a real server. Every page must stay quiet on the console and talk to nobody else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.serving import Serving, serving
from tests.ui.learner import Learner


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """One server for all learners of these tests. Whatever they do, nothing may go wrong on it."""
    with serving(tmp_path_factory.mktemp("lab")) as server:
        yield server
        assert server.faults() == [], server.log.read_text()


@pytest.fixture
def learners(browser: Browser) -> Iterator[Callable[..., Learner]]:
    """Makes learners, each with a browser of their own, at the server they are given."""
    made: list[Learner] = []

    def make(server: Serving, **options: Any) -> Learner:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}} | options)
        made.append(Learner(context, server))
        return made[-1]

    yield make
    for learner in made:
        learner.leave()


@pytest.fixture
def learner(learners: Callable[..., Learner], lab: Serving) -> Learner:
    """One learner who reads English, on a laptop."""
    return learners(lab)
