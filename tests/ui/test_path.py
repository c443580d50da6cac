"""From the first page to the verdict, with nothing but a keyboard, in both languages."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.serving import Serving
from tests.ui.learner import REQUIRED, Learner

pytestmark = pytest.mark.ui
SAID = {
    "en": ("Your prediction is locked", "The verdict is below", "7.5 MB"),
    "zh": ("预测已锁定", "对照结果在下面", "7.5 MB"),
}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_whole_path_by_keyboard(learners: Callable[..., Learner], lab: Serving, language: str) -> None:
    learner = learners(lab)
    page = learner.open(f"?lang={language}")
    locked, revealed, belief = SAID[language]

    learner.press("Tab")
    assert learner.focused()["classes"] == "skip"
    learner.press("Enter")
    learner.tab_to(command="read")
    learner.press("Enter")
    learner.at("predict")

    for key, text in REQUIRED.items():
        if key == "R01.kv_mb":
            learner.tab_to(name="p95.best")
            learner.press("Space", "ArrowDown", "ArrowDown")
        learner.tab_to(name=key)
        page.keyboard.type(text)
    learner.tab_to(name="confidence")
    learner.press("Space")
    learner.tab_to(type="submit")
    learner.press("Enter")
    learner.at("run")
    expect(learner.find("#status")).to_contain_text(locked)
    assert learner.known() == 0

    learner.press("ArrowRight")
    page.wait_for_function("window.ticklab.tick === 0")
    learner.press("ArrowRight")
    page.wait_for_function("window.ticklab.tick === 1")
    learner.press("ArrowLeft")
    page.wait_for_function("window.ticklab.tick === 0")
    learner.press("End")
    learner.at("observe")

    learner.tab_to(id="observed")
    page.keyboard.type("1.1")
    learner.press("Enter")
    learner.at("verdict")
    expect(learner.find("#status")).to_contain_text(revealed)
    verdict = learner.find("#verdict-content")
    expect(verdict.locator("table").first).to_contain_text("continuous")
    expect(verdict).to_contain_text(belief)

    learner.tab_to(command="again")
    learner.press("Enter")
    learner.at("read")
    expect(page.locator(".attempt")).to_contain_text("2")


def test_the_rules_are_read_once(learner: Learner) -> None:
    """Whoever has locked an exercise finds in the next one what is new; all of them are one press away."""
    rules, new = learner.find("details.rules:not(.terms)"), learner.find(".own")
    learner.open("?lang=en")
    expect(rules).to_have_attribute("open", "")
    expect(new).to_have_count(0)
    learner.predict("?lang=en")
    learner.open("?lang=en&ex=kv-in-half")
    expect(rules).not_to_have_attribute("open", "")
    expect(new.locator("li")).to_have_count(3)
    expect(new).to_contain_text("the pool has 38 pages")
    rules.locator("summary").click()
    expect(rules.locator("li").first).to_be_visible()
    learner.open("?lang=en&ex=little")
    expect(new).to_have_text("The usual rules; nothing is different here.")


def test_a_row_of_the_verdict_leads_to_its_tick(learner: Learner) -> None:
    learner.predict()
    learner.run()
    learner.observe()
    row = learner.find("#verdict-content [data-tick]").first
    row.click()
    assert learner.tick() == int(row.get_attribute("data-tick"))


def test_what_is_wrong_is_said_where_it_is(learner: Learner) -> None:
    learner.read()
    learner.fill(static__R02__ttft="soon")
    learner.find("#predict button[type=submit]").click()
    field = learner.find("#predict [name='static.R02.ttft']")
    expect(field).to_have_attribute("aria-invalid", "true")
    learner.at("predict")
    field.fill("0.3")
    learner.lock()


def test_an_observation_that_is_no_number_is_not_taken(learner: Learner) -> None:
    learner.predict()
    learner.run()
    learner.find("#observed").fill("soon")
    learner.find("#observe-form button").click()
    expect(learner.find("#observed")).to_have_attribute("aria-invalid", "true")
    expect(learner.find("#observe-problem")).to_contain_text("soon")
    learner.observe("1.08 s")
