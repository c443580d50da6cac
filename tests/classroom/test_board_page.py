"""The teacher's page in a real Chromium: it keeps itself fresh, and it is quiet."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from app.classroom.keys import Keys
from tests.classroom.running import ClassServing, lock

pytestmark = pytest.mark.ui


@pytest.mark.parametrize(("language", "hide"), [("en", "Hide the votes here"), ("zh", "在本页隐藏投票")])
def test_the_board_follows_the_class(
    school: ClassServing, keys: Keys, browser: Browser, language: str, hide: str
) -> None:
    number = 900 + len(language) + (language == "zh")
    context = browser.new_context()
    context.set_default_timeout(120_000)
    complaints: list[str] = []
    try:
        page = context.new_page()
        page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(f"{school.teacher}/teach?key={keys.teacher}")
        assert page.url == f"{school.teacher}/teach"
        page.goto(f"{school.teacher}/teach?show=1&exercise=main&lang={language}")
        expect(page.locator("html")).to_have_attribute("lang", "zh-CN" if language == "zh" else "en")
        before = int(page.locator(".big strong").first.inner_text())
        store = school.store()
        lock(store, number, why="<img src=x onerror=alert(1)>", confidence=4, static__R02__ttft=88.8)
        store.close()
        expect(page.locator(".big strong").first).to_have_text(str(before + 1))
        page.locator("#whys summary").click()
        expect(page.locator("#whys li").last).to_have_text("<img src=x onerror=alert(1)>")
        expect(page.get_by_role("link", name=hide)).to_be_visible()
        assert page.locator("#board img").count() == 0
        page.set_viewport_size({"width": 390, "height": 800})
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0
        assert complaints == []
    finally:
        context.close()


def test_two_teachers_see_the_same_buttons(school: ClassServing, keys: Keys, browser: Browser) -> None:
    """What one decides, the other's page has: no button of it tells of a phase that is over."""
    context = browser.new_context()
    context.set_default_timeout(120_000)
    try:
        one, two = context.new_page(), context.new_page()
        one.goto(f"{school.teacher}/teach?key={keys.teacher}")
        for page in (one, two):
            page.goto(f"{school.teacher}/teach?exercise=main&lang=en")
        for phase in ("discuss", "vote2"):
            one.click(f"button[name=phase][value={phase}]")
            for page in (one, two):
                expect(page.locator("[aria-current=step]")).to_have_attribute("value", phase)
        two.get_by_role("button", name="Everyone to tick 0").click()
        expect(one.get_by_role("button", name="One tick on")).to_have_attribute("value", "1")
        one.get_by_role("button", name="Release").click()
        expect(two.get_by_role("button", name="Everyone to tick 0")).to_be_visible()
        one.click("button[name=phase][value=closed]")
        expect(two.locator("[aria-current=step]")).to_have_attribute("value", "closed")
    finally:
        context.close()
