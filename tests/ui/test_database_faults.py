"""What a learner sees when a lock cannot be stored: not locked, why, nothing lost, and the button again."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
from playwright.sync_api import expect

from app.settings import DATABASE
from app.words import app_words
from tests.serving import Serving, serving
from tests.ui.learner import Learner

pytestmark = pytest.mark.ui


@pytest.fixture
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A server whose database this test may hold."""
    with serving(tmp_path_factory.mktemp("own")) as server:
        yield server


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_lock_that_is_not_stored(own: Serving, learners: Callable[..., Learner], language: str) -> None:
    learner = learners(own)
    learner.read(f"?lang={language}")
    learner.fill(static__R02__ttft="0.66")
    field = learner.find("#predict [name='static.R02.ttft']")
    button = learner.find("#predict button[type=submit]")
    with closing(sqlite3.connect(own.folder / "data" / DATABASE, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        button.click()
        note = learner.find("#predict .note")
        expect(note).to_have_text(app_words(language)("unstored.lock"))
        expect(note).to_have_attribute("role", "status")
        expect(button).to_be_enabled()
        expect(field).to_have_value("0.66")
        expect(learner.find("html")).to_have_attribute("data-locked", "false")
        learner.at("predict")
    learner.lock()
    expect(learner.find("html")).to_have_attribute("data-locked", "true")
    learner.reload()
    learner.at("run")
