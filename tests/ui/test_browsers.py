"""Several browsers, several tabs, reloads: what belongs to whom, and what is still there."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.serving import Serving
from tests.ui.learner import Learner

pytestmark = pytest.mark.ui


def test_two_browsers_are_two_learners(learners: Callable[..., Learner], lab: Serving) -> None:
    first, second = learners(lab), learners(lab)
    first.read()
    second.read()
    first.fill(static__R02__ttft="0.44")
    second.fill(static__R02__ttft="0.77")
    first.lock()
    second.at("predict")
    first.step()
    assert second.known() == 0
    second.lock()
    for learner, typed in ((first, "0.44"), (second, "0.77")):
        learner.reload()
        expect(learner.find("#predict")).to_contain_text(f"{typed} s")


def test_a_draft_survives_a_reload(learner: Learner) -> None:
    learner.read()
    learner.find("#predict [name='static.R02.ttft']").fill("0.3")
    learner.find("#f-why").fill("the batch is closed")
    learner.kept_draft(static__R02__ttft="0.3")
    learner.reload()
    learner.at("predict")
    expect(learner.find("#predict [name='static.R02.ttft']")).to_have_value("0.3")
    expect(learner.find("#f-why")).to_have_value("the batch is closed")


def test_a_draft_is_on_the_server_not_only_in_the_tab(learner: Learner) -> None:
    learner.read()
    learner.find("#predict [name='static.R02.ttft']").fill("0.3")
    learner.kept_draft(static__R02__ttft="0.3")
    learner.page.evaluate("localStorage.clear()")
    other = learner.open(page=learner.new_page())
    expect(other.locator("#predict [name='static.R02.ttft']")).to_have_value("0.3")


def test_a_reload_keeps_lock_and_tick(learner: Learner) -> None:
    learner.predict()
    for _ in range(5):
        learner.step()
    learner.press("ArrowLeft", "ArrowLeft")
    learner.page.wait_for_function("window.ticklab.tick === 2")
    learner.kept_tick(2)
    learner.reload()
    learner.at("run")
    learner.page.wait_for_function("window.ticklab.runs.length > 0")
    learner.page.wait_for_function("window.ticklab.tick === 2")
    learner.knows(5)
    expect(learner.find("#predict")).to_contain_text("0.43 s")
    expect(learner.find("#predict input")).to_have_count(0)
    learner.run()


def test_a_reload_brings_the_verdict_back(learner: Learner) -> None:
    learner.predict()
    learner.run()
    learner.observe()
    learner.reload()
    learner.at("verdict")
    expect(learner.find("#verdict-content table").first).to_be_visible()
    expect(learner.find("#observed")).to_have_value("1.1")


def test_a_double_click_locks_once(learner: Learner) -> None:
    learner.read()
    learner.fill()
    learner.find("#predict button[type=submit]").dblclick()
    learner.at("run")
    learner.step()


def test_a_second_tab_follows_the_lock_of_the_first(learner: Learner) -> None:
    learner.read()
    learner.fill()
    other = learner.open(page=learner.new_page())
    learner.page.bring_to_front()
    learner.lock()
    other.bring_to_front()
    other.locator("#predict [name='static.R02.ttft']").fill("9")
    other.locator("#predict button[type=submit]").click()
    expect(other.locator("html")).to_have_attribute("data-step", "run")
    expect(other.locator("#predict")).to_contain_text("0.43 s")


def test_the_language_switch_keeps_everything(learner: Learner) -> None:
    learner.predict()
    learner.step()
    learner.find("header").get_by_role("link", name="中文").click()
    learner.ready()
    learner.at("run")
    expect(learner.find("html")).to_have_attribute("lang", "zh-CN")
    learner.page.wait_for_function("window.ticklab.runs.length > 0")
    expect(learner.find("#predict")).to_contain_text("0.43 s")
    learner.open()
    expect(learner.find("html")).to_have_attribute("lang", "zh-CN")
