"""A real Chromium and a real server. Every page must stay quiet on the console and talk to nobody else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.classroom.running import ClassServing
from tests.serving import Serving, serving
from tests.ui.leading import Led, TeachersPage
from tests.ui.learner import PATIENCE, Learner
from tests.ui.player import Player


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


@pytest.fixture
def play(learner: Learner) -> Player:
    """That learner at free play."""
    return Player(learner)


# ---- a class that is led ---------------


@pytest.fixture
def own_class(tmp_path: Path) -> Iterator[ClassServing]:
    """A class of its own; whatever happens in it, nothing may go wrong on the server."""
    server = ClassServing(tmp_path)
    server.start()
    yield server
    server.stop()
    assert server.faults() == [], server.log.read_text()


@pytest.fixture
def browsers(browser: Browser, own_class: ClassServing) -> Iterator[Callable[..., Led]]:
    """Makes learners of the class."""
    made: list[Led] = []

    def make(language: str = "en", **options: Any) -> Led:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}} | options)
        made.append(Led(context, own_class))
        made[-1].language = language
        return made[-1]

    yield make
    for learner in made:
        learner.leave()


@pytest.fixture
def teacher(browser: Browser, own_class: ClassServing) -> Iterator[Callable[[str], TeachersPage]]:
    """Opens the teacher's page in a browser of its own, which has to stay quiet."""
    complaints: list[str] = []
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(PATIENCE)

    def make(language: str = "en") -> TeachersPage:
        page = context.new_page()
        page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        return TeachersPage(page, own_class, language)

    yield make
    context.close()
    away = ("ERR_CONNECTION", "ERR_EMPTY_RESPONSE")  # what a server that is killed leaves behind
    assert [said for said in complaints if not any(part in said for part in away)] == []
