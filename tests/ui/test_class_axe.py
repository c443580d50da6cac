"""Every page around a class: for a screen reader, on a phone, in the dark, with nobody and with forty."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from app.classroom.keys import keys_in
from tests.classroom.running import ClassServing, Teacher, lock
from tests.ui.learner import PATIENCE
from tests.ui.test_page import findings

pytestmark = pytest.mark.ui

LOOKS = [("en", "light"), ("en", "dark"), ("zh", "light"), ("zh", "dark")]
NAMES = ("", "Ada", "很长的名字" * 8, "<img src=x onerror=alert(1)>", "\u202eeman a", "W" * 40)
VALUES = (0.43, 1.2, 0.9, 1.5, 0.3, 2.2, 3.3, 4.4)
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
SMALL = """() => [...document.querySelectorAll("a, button, select, summary, input:not([type=hidden])")]
  .map((one) => [one, one.type === "checkbox" ? one.closest("label") : one])
  .filter(([one, box]) => one.checkVisibility() && getComputedStyle(one).display !== "inline")
  .filter(([one, box]) => box.getBoundingClientRect().height < 43.5).map(([one]) => one.outerHTML)"""
# A head that stands over another column than its numbers says something wrong.
ASTRAY = """() => [...document.querySelectorAll("#board table")].flatMap((table) => {
  const [head, ...rows] = table.rows
  const left = (one) => one.getBoundingClientRect().x
  return rows.flatMap((row) => [...row.cells].map((cell, index) => [head.cells[index], cell]))
    .filter(([over, cell]) => !over || Math.abs(left(over) - left(cell)) > 1)
    .map(([over, cell]) => `${over?.textContent}: ${cell.textContent}`)
})"""


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClassServing]:
    """A class of forty that has voted twice, and one that has ended."""
    server = ClassServing(tmp_path_factory.mktemp("full"))
    server.start()
    teacher, store = Teacher(server), server.store()
    teacher.post("/teach/classes/start", name="2025 " + "春季班" * 12)
    teacher.direct("short-prompt", phase="vote1")
    teacher.direct(phase="vote1")
    for number in range(40):
        value = VALUES[number % len(VALUES)]
        lock(store, number, confidence=1 + number % 4, why="why " * (number % 90), static__R02__ttft=value)
        store.classes.call(f"{number:032x}", NAMES[number % len(NAMES)])
    teacher.direct(phase="reveal", show_votes=1)
    store.close()
    yield server
    server.stop()
    assert server.faults() == [], server.log.read_text()


@pytest.fixture
def context(browser: Browser) -> Iterator[Callable[..., BrowserContext]]:
    """Makes browsers that look as asked."""
    made: list[BrowserContext] = []

    def make(scheme: str) -> BrowserContext:
        made.append(browser.new_context(color_scheme=scheme, viewport={"width": 1280, "height": 900}))
        made[-1].set_default_timeout(PATIENCE)
        return made[-1]

    yield make
    for one in made:
        one.close()


def check(page: Page, address: str, language: str) -> None:
    """Fit for everybody on a laptop and on a phone, and nothing beside the screen."""
    page.goto(f"{address}{'&' if '?' in address else '?'}lang={language}")
    expect(page.locator("html")).to_have_attribute("lang", "zh-CN" if language == "zh" else "en")
    for summary in page.locator("summary").all():
        summary.click()
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert findings(page) == [], (address, width)
        assert page.evaluate(WIDER) <= 0, (address, width)
        assert page.evaluate(SMALL) == [], (address, width)
        assert page.evaluate(ASTRAY) == [], (address, width)


@pytest.mark.parametrize(("language", "scheme"), LOOKS)
def test_the_teachers_pages(
    full: ClassServing, context: Callable[..., BrowserContext], language: str, scheme: str
) -> None:
    page = context(scheme).new_page()
    page.goto(f"{full.teacher}/teach?key={keys_in(full.folder / 'data').teacher}")
    for path in (
        "teach?exercise=main&show=1",
        "teach?exercise=itl&show=1",  # nobody has voted there
        "teach?class=1",  # a class that has ended, without a learner
        "teach?exercise=short-prompt&ask=reveal",
        "teach?exercise=main&ask=reading",
        "teach/project",
        "teach/project?question=static.R02.ttft",
        "teach/classes",
        "teach/classes?delete=1",
        "teach/nowhere",
    ):
        check(page, f"{full.teacher}/{path}", language)


@pytest.mark.parametrize(("language", "scheme"), LOOKS)
def test_the_way_in_and_the_pages_to_read(
    full: ClassServing, context: Callable[..., BrowserContext], language: str, scheme: str
) -> None:
    page = context(scheme).new_page()
    check(page, f"{full.url}/", language)
    check(page, f"{full.url}/?code=WRONG1", language)
    expect(page.locator("#code")).to_have_value("WRONG1")
    check(page, f"{full.teacher}/teach", language)  # not for learners
    for name in ("", "main.html", "metrics.html"):
        page.goto(f"{full.url}/read/{language}/{name}")
        assert findings(page) == [], name
        page.set_viewport_size({"width": 390, "height": 900})
        assert page.evaluate(WIDER) <= 0, name
    check(page, f"{full.url}/?code={keys_in(full.folder / 'data').join}", language)
    check(page, f"{full.url}/", language)
    expect(page.locator("#nickname")).to_be_visible()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_without_any_class(tmp_path: Path, context: Callable[..., BrowserContext], language: str) -> None:
    server = ClassServing(tmp_path)
    server.start()
    try:
        teacher, page = Teacher(server), context("light").new_page()
        page.goto(f"{server.teacher}/teach?key={keys_in(server.folder / 'data').teacher}")
        check(page, f"{server.teacher}/teach", language)  # nobody has joined yet
        expect(page.locator("#board")).to_contain_text(keys_in(server.folder / "data").join)
        assert teacher.post("/teach/classes/end", **{"class": 1}).status == 200
        check(page, f"{server.url}/", language)
        expect(page.locator("[role=status]")).to_be_visible()
        assert teacher.post("/teach/classes/delete", **{"class": 1}).status == 200
        check(page, f"{server.teacher}/teach/classes", language)
        page.goto(f"{server.teacher}/teach")
        assert page.url.endswith("/teach/classes")
    finally:
        server.stop()
    assert server.faults() == []
