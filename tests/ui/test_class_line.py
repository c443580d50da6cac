"""The classroom line of the README: it starts, and it serves a class."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.serving import Serving
from tests.test_readme import command

pytestmark = pytest.mark.ui


@pytest.fixture
def class_server(tmp_path: Path) -> Iterator[Serving]:
    """The very line, on a port of its own."""
    words = shlex.split(command("--session-token-expiration"))
    assert words[1:5] == ["serve", "app", "--port", "5006"]
    serving = Serving(tmp_path)
    serving.options = words[5:]
    serving.start()
    yield serving
    serving.stop()


def test_the_classroom_line_serves_five_browsers(class_server: Serving, browser: Browser) -> None:
    """Five learners, each with a number of its own, none of them mixed up."""
    contexts = [browser.new_context() for _ in range(5)]
    for context in contexts:
        context.set_default_timeout(180_000)
    try:
        pages = [context.new_page() for context in contexts]
        for page in pages:
            page.goto(class_server.page)
        for number, page in enumerate(pages):
            page.wait_for_selector("html[data-ready=true]", timeout=180_000)
            page.locator("[data-command=read]").click()
            expect(page.locator("html")).to_have_attribute("data-step", "predict")
            page.locator("#predict [name='static.R02.ttft']").fill(f"0.{number}1")
            page.wait_for_timeout(800)  # drafts are saved a moment after the last key
        for number, page in enumerate(pages):
            page.reload()
            page.wait_for_selector("html[data-ready=true]", timeout=180_000)
            field = page.locator("#predict [name='static.R02.ttft']")
            expect(field).to_have_value(f"0.{number}1")
    finally:
        for context in contexts:
            context.close()
