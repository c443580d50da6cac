"""The transfer task in a real Chromium: both languages, without a script, on a phone, by keyboard."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from puzzles.design import design_words
from tests.designing.guest import PLAN
from tests.serving import Serving

pytestmark = pytest.mark.ui

Open = Callable[..., Page]
STEPS = {
    "en": ("Read", "Predict", "Run", "Observe", "Verdict", "Predict"),
    "zh": ("看懂", "预测", "运行", "看见", "对照", "预测"),
}


@pytest.fixture
def opened(browser: Browser, desk: Serving) -> Iterator[Open]:
    """Opens the page in a browser of its own, which must stay quiet and at home."""
    contexts, loud, outside = [], [], []

    def ours(url: str) -> bool:
        return url.removeprefix("blob:").startswith(desk.url)

    def make(language: str, **options: Any) -> Page:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}} | options)
        context.set_default_timeout(120_000)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda said: said.type in ("error", "warning") and loud.append(said.text))
        page.on("pageerror", lambda error: loud.append(str(error)))
        page.on("request", lambda sent: ours(sent.url) or outside.append(sent.url))
        page.goto(f"{desk.url}/lab/design?lang={language}")
        return page

    yield make
    for context in contexts:
        context.close()
    assert loud == []
    assert outside == []


def fill(page: Page, plan: dict[str, Any]) -> None:
    """Every field of the form."""
    for name, value in plan.items():
        if name == "variables":
            for one in value:
                page.check(f"[name=variables][value={one}]")
        elif name == "confidence":
            page.check(f"[name=confidence][value='{value}']")
        elif page.locator(f"select[name={name}]").count():
            page.select_option(f"select[name={name}]", value)
        else:
            page.fill(f"[name={name}]", value)


def send(page: Page, button: str) -> None:
    """Press a button, and wait until the page that comes is whole."""
    with page.expect_navigation(wait_until="load"):
        page.click(f"button[value={button}]")


def journey(page: Page) -> Iterator[None]:
    """From the task to another try, stopping at each step."""
    yield
    fill(page, PLAN | {"expect_inside": "9"})
    send(page, "lock")
    yield
    fill(page, {"expect_inside": "6"})
    send(page, "lock")
    yield
    send(page, "run")
    yield
    page.fill("#observed", "7")
    send(page, "observe")
    yield
    send(page, "again")
    yield


@pytest.mark.parametrize("scripts", [True, False])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_all_six_steps(opened: Open, language: str, scripts: bool) -> None:
    page, say = opened(language, java_script_enabled=scripts), design_words(language)
    for step, _ in zip(STEPS[language], journey(page), strict=True):
        current = page.locator("#steps [aria-current=step]")
        expect(current).to_have_count(1)
        expect(current).to_contain_text(step)
        if step == STEPS[language][4]:
            expect(page.locator("#verdict-part")).to_contain_text("★ " + say("design.yours"))
            expect(page.locator("#verdict-part")).to_contain_text(say("picks.passed"))
            page.reload()
            expect(page.locator("#verdict-part")).to_contain_text(say("design.open_door"))
    expect(page.locator("#max_active")).to_have_value("10")


@pytest.mark.parametrize(("language", "scheme"), [("en", "light"), ("zh", "dark")])
def test_axe_finds_nothing(opened: Open, language: str, scheme: str) -> None:
    page = opened(language, color_scheme=scheme)
    for _ in journey(page):
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
        found = Axe().run(page).response["violations"]
        assert [(one["id"], [node["target"] for node in one["nodes"]][:3]) for one in found] == []
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = false })")


SMALL = """() => [...document.querySelectorAll("button, select, input, summary, label.tick")]
  .filter((one) => one.type !== "hidden")
  .filter((one) => !one.closest("label.tick") || one.matches("label.tick"))
  .filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < 43.5)
  .map((one) => one.outerHTML.slice(0, 80))"""


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_phone_never_scrolls_sideways_and_targets_are_large(opened: Open, language: str) -> None:
    page = opened(language, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    for _ in journey(page):
        assert page.evaluate("document.scrollingElement.scrollWidth") <= 390
        assert page.evaluate(SMALL) == []


def test_by_keyboard_alone(opened: Open) -> None:
    """Tab, type, choose with the arrows, tick with the space bar, send with Enter."""
    page = opened("en")

    def to(name: str, value: str = "") -> None:
        wanted = [name, value]
        for _ in range(120):
            page.keyboard.press("Tab")
            there = page.evaluate("[document.activeElement.name ?? '', document.activeElement.value ?? '']")
            if there[0] == name and (not value or there == wanted):
                return
        raise AssertionError(f"Tab never came to {name} {value}")

    for name in ("max_active", "expect_time", "expect_inside", "expect_goodput"):
        to(name)
        page.keyboard.press("Control+a")
        page.keyboard.type(str(PLAN[name]))
    for name in ("expect_rank", "expect_pays"):
        to(name)
        page.keyboard.press("ArrowDown")
    for value in ("step_time", "burstiness", "output_lengths"):
        to("variables", value)
        page.keyboard.press("Space")
    to("do", "lock")
    page.keyboard.press("Enter")
    expect(page.locator("#steps [aria-current=step]")).to_contain_text("Run")


def test_the_theme_of_the_lab_holds_here(opened: Open) -> None:
    page = opened("en")
    paper = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)
    page.evaluate("localStorage.setItem('ticklab:theme', 'dark')")
    page.reload()
    assert page.evaluate(paper) != light


def test_the_menu_leads_back_to_the_course(opened: Open, desk: Serving) -> None:
    page = opened("en")
    page.click("details.contents summary")
    page.click(".contents a >> text=Four requests and a law")
    page.wait_for_selector("html[data-ready=true]")
    assert page.url == f"{desk.url}/app?ex=little"
    page.click("details.contents summary")
    page.click(".contents a[href='lab/design']")
    expect(page.locator("h1")).to_have_text("Transfer: design a summarization service")
