"""A led class when the network goes, or the server is killed and starts again."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from app.words import app_words
from tests.classroom.running import ClassServing
from tests.ui.cable import Cable
from tests.ui.leading import FIELD, LOCK_STEP, SOON, Led, TeachersPage

pytestmark = pytest.mark.ui

BACK = 180_000  # ms


def test_a_phone_that_slept_wakes_where_the_class_is(
    own_class: ClassServing, browsers: Callable[..., Led], teacher: Callable[[str], TeachersPage]
) -> None:
    """The network goes in vote 1, with something typed; it comes back in the run."""
    cable = Cable(own_class.port)
    own_class.stop()
    own_class.options = ["--origins", cable.origin]
    own_class.start()
    lead = teacher("en")
    try:
        own_class.at(cable.port)
        phone = browsers(viewport={"width": 390, "height": 844})
        phone.expected = ["WebSocket", "ERR_", "Failed to", "Lost websocket", "Unable to", "reconnect"]
        phone.expected += ["not connected so cannot send"]
        lead.lead("vote1")
        phone.join_and_vote(static__R02__ttft="0.43")
        cable.pull()
        phone.page.wait_for_selector("html[data-connection=lost]", timeout=SOON)
        lead.lead("vote2")
        lead.press("Everyone to tick 0")
        lead.lead("run")
        lead.press("One tick on")
        cable.plug()
        phone.page.wait_for_function("window.ticklab?.tick === 1", timeout=BACK)
        phone.hears("led.tick", tick=1)
        cable.pull()
        phone.page.wait_for_selector("html[data-connection=lost]", timeout=SOON)
        lead.lead("reveal")
        cable.plug()
        expect(phone.find("html")).to_have_attribute("data-step", "verdict", timeout=BACK)
        expect(phone.find("#verdict-content table").first).to_be_visible(timeout=SOON)
    finally:
        cable.close()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_server_that_starts_again_in_a_led_exercise_finds_the_class(
    own_class: ClassServing,
    browsers: Callable[..., Led],
    teacher: Callable[[str], TeachersPage],
    language: str,
) -> None:
    """Killed in vote 1 with a draft typed, and in lock step; the cookies of both sides still let them in."""
    lead, learner = teacher(language), browsers(language)
    learner.expected = ["WebSocket", "ERR_", "Failed to", "not connected so cannot send"]
    lead.lead("vote1")
    learner.join("Ada")
    learner.begin()
    own_class.stop(kill=True)
    expect(learner.find("#offline[role=alert]")).to_be_visible()
    expect(learner.find("#offline")).to_contain_text(app_words(language)("offline.title"))
    learner.find(f"#predict [name='{FIELD}']").fill("0.66")
    own_class.start()
    expect(learner.find("#offline")).to_be_hidden(timeout=BACK)
    learner.ready()
    learner.hears("led.vote1")
    assert learner.shown(FIELD) == "0.66"
    learner.vote(static__R02__ttft="0.66")
    begin, on, _ = LOCK_STEP[language]
    lead.page.goto(lead.address())
    lead.press(begin)
    lead.lead("run")
    learner.hears("led.tick", tick=0)
    learner.page.wait_for_function("window.ticklab.tick === 0", timeout=SOON)
    lead.press(on)
    learner.page.wait_for_function("window.ticklab.tick === 1", timeout=SOON)
    own_class.stop(kill=True)
    expect(learner.find("#offline")).to_be_visible(timeout=SOON)
    own_class.start()
    expect(learner.find("#offline")).to_be_hidden(timeout=BACK)
    learner.ready()
    learner.hears("led.tick", tick=1)
    learner.page.wait_for_function("window.ticklab.tick === 1", timeout=SOON)
    lead.page.goto(lead.address())
    lead.press(on)
    learner.hears("led.tick", tick=2)
    lead.lead("reveal")
    learner.at("verdict")
    expect(learner.find("#verdict-content table").first).to_be_visible(timeout=SOON)
