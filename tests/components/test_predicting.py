"""The prediction form as a learner meets it: by keyboard, with mistakes, through a reload."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.components.conftest import Visit

pytestmark = pytest.mark.ui

REQUIRED = {
    "immediate.R02.ttft": "1.2",
    "static.R02.ttft": "0,3",
    "continuous.R02.ttft": "0.1",
    "continuous.R01.tpot": "0.1",
    "R01.kv_mb": "7.5",
    "slow.R01.tpot": "1",
    "slow.R02.tpot": "1",
    "slow.R03.tpot": "1",
    "slow.R04.tpot": "2",
}


def fill(page: Page) -> None:
    """Every required answer."""
    for key, value in REQUIRED.items():
        page.locator(f"[name='{key}']").fill(value)
    page.get_by_role("group", name="Which policy").get_by_label("continuous").check()


def test_whole_prediction_by_keyboard(visit: Visit) -> None:
    page = visit.open()
    page.get_by_role("button", name="Show the optional").focus()
    keyboard = page.keyboard
    for value in ("1.2", "0.3", "0.1", "0.1"):  # the required cells, in the order of the page
        keyboard.press("Tab")
        keyboard.type(value)
    keyboard.press("Tab")
    keyboard.press("Space")  # the first policy
    keyboard.press("ArrowDown")
    for value in ("7.5", "1", "1", "1", "2"):
        keyboard.press("Tab")
        keyboard.type(value)
    keyboard.press("Tab")
    keyboard.press("Space")  # how sure
    keyboard.press("Tab")
    keyboard.type("because")
    keyboard.press("Tab")
    keyboard.press("Enter")
    expect(page.get_by_text("Locked. These are your answers")).to_be_visible()
    expect(page.get_by_role("row", name="R04 continuous, tick 1.0 s · TPOT 2 s")).to_be_visible()
    expect(page.get_by_role("textbox")).to_have_count(0)
    expect(page.get_by_role("button", name="Step")).to_be_enabled()


def test_problems_are_shown_where_they_are(visit: Visit) -> None:
    page = visit.open()
    page.get_by_role("button", name="Lock answers").click()
    summary = page.locator(".summary")
    expect(summary).to_be_focused()
    expect(summary).to_contain_text("To mend: 10")
    first = page.locator("[name='immediate.R02.ttft']")
    expect(first).to_have_attribute("aria-invalid", "true")
    expect(first).to_have_accessible_description("R02 TTFT: A number is needed, such as 0.10.")
    summary.get_by_role("button").nth(1).click()
    expect(page.locator("[name='static.R02.ttft']")).to_be_focused()
    expect(page.get_by_role("button", name="Lock answers")).to_be_enabled()


def test_a_double_click_locks_once(visit: Visit) -> None:
    page = visit.open()
    fill(page)
    page.get_by_role("button", name="Lock answers").dblclick()
    expect(page.get_by_text("Locked. These are your answers")).to_be_visible()
    assert sum('"lock"' in frame for frame in visit.sent) == 1


def test_what_was_typed_survives_a_reload(visit: Visit) -> None:
    page = visit.open()
    page.locator("[name='static.R02.ttft']").fill("0.3")
    page.reload()  # before the draft could be sent
    visit.ready()
    expect(page.locator("[name='static.R02.ttft']")).to_have_value("0.3")


def test_what_was_typed_without_a_server_is_said_again(visit: Visit) -> None:
    page = visit.open()
    page.locator("[name='static.R02.ttft']").fill("0.3")
    page.wait_for_timeout(600)  # the draft was sent, and may be lost
    sent = len(visit.sent)
    page.evaluate("window.dispatchEvent(new CustomEvent('ticklab:connection', { detail: { open: true } }))")
    page.wait_for_timeout(100)
    assert any('"static.R02.ttft"' in frame for frame in visit.sent[sent:])


def test_optional_cells_open_and_close(visit: Visit) -> None:
    page = visit.open()
    optional = page.locator("[name='static.R04.tpot']")
    expect(optional).to_be_hidden()
    page.get_by_role("button", name="Show the optional").press("Enter")
    expect(optional).to_be_visible()
    page.get_by_role("button", name="Hide the optional").press("Enter")
    expect(optional).to_be_hidden()
