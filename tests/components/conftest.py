"""The harness in a process of its own, and a Chromium that talks to nobody else."""

from __future__ import annotations

import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.serving import PATIENCE, free_port

READY = "window.Bokeh && Bokeh.documents.length && Bokeh.documents.every((one) => one.is_idle)"


@pytest.fixture(scope="session")
def harness() -> Iterator[str]:
    """Address of the harness."""
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.components.harness", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://localhost:{port}/page"
    try:
        _wait(address, process)
        yield address
    finally:
        process.terminate()
        process.wait(PATIENCE)


def _wait(address: str, process: subprocess.Popen[bytes]) -> None:
    give_up = time.monotonic() + PATIENCE
    while time.monotonic() < give_up:
        assert process.poll() is None, "the harness ended before it answered"
        try:
            with urllib.request.urlopen(address, timeout=PATIENCE):
                return
        except OSError:
            time.sleep(0.25)
    raise TimeoutError(address)


class Visit:
    """One learner's browser page: what it says on the console and what it sends."""

    def __init__(self, page: Page, harness: str) -> None:
        self.page = page
        self.harness = harness
        self.complaints: list[str] = []
        self.outside: list[str] = []
        self.sent: list[str] = []
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", self._asked)
        page.on("websocket", lambda socket: socket.on("framesent", lambda data: self.sent.append(str(data))))

    def _said(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def _asked(self, request: Any) -> None:
        if not request.url.startswith((self.harness.rsplit("/", 1)[0], "blob:", "data:")):
            self.outside.append(request.url)

    def open(self, **arguments: str) -> Page:
        """The harness, ready, with ``lang``, ``theme``, ``locked`` and ``ticks`` as given."""
        query = "&".join(f"{name}={value}" for name, value in arguments.items())
        self.page.goto(f"{self.harness}?{query}")
        self.ready()
        return self.page

    def until_quiet(self) -> None:
        """Wait until it has nothing more to send."""
        before = -1
        while len(self.sent) != before:
            before = len(self.sent)
            self.page.wait_for_timeout(500)

    def ready(self) -> None:
        self.page.wait_for_function(READY)
        expect(self.page.locator(".lab-player button.step")).to_be_attached()
        expect(self.page.locator(".lab-form")).to_be_attached()


@pytest.fixture
def visitor(browser: Browser, harness: str) -> Iterator[Callable[..., Visit]]:
    """Makes visits, each in a browser context with the given options. All must stay quiet and at home."""
    visits: list[Visit] = []

    def make(**options: Any) -> Visit:
        context = browser.new_context(**options)
        context.set_default_timeout(120_000)
        visits.append(Visit(context.new_page(), harness))
        return visits[-1]

    yield make
    for visit in visits:
        visit.page.context.close()
        assert visit.complaints == []
        assert visit.outside == []


@pytest.fixture
def visit(visitor: Callable[..., Visit]) -> Visit:
    """One visit at 1280 pixels."""
    return visitor(viewport={"width": 1280, "height": 900})
