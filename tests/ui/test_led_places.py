"""Where the class is, whatever page a learner has open; and that what is said stays in view."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from app.words import app_words
from puzzles import load
from tests.ui.leading import Led, TeachersPage

pytestmark = pytest.mark.ui

PHONE = {"width": 390, "height": 844}
VIEWS = [{"width": 1280, "height": 900}, PHONE]
OTHER = "short-prompt"


def edges(one: Locator) -> tuple[float, float]:
    """Its upper and its lower edge, in pixels of the window."""
    box = one.bounding_box()
    assert box is not None
    return box["y"], box["y"] + box["height"]


def to_the_end(page: Page) -> None:
    page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_learners_are_led_to_the_exercise_of_the_class(
    browsers: Callable[..., Led], teacher: Callable[[str], TeachersPage], language: str
) -> None:
    """Also in the middle of a vote; what they typed is there when the class comes back."""
    lead = teacher("en")
    lead.lead("vote1")
    ada = browsers(language)
    ada.join()
    ada.begin()
    ada.fill(static__R02__ttft="0.43")
    lead.page.select_option("#exercise", OTHER)
    lead.press("Open")
    lead.page.wait_for_url("**exercise=short-prompt**")
    ada.hears("led.vote1")  # the teacher has only looked
    lead.lead("vote1")
    there = there_is(ada, OTHER)
    late = browsers(language)
    late.join()
    assert late.page.url.endswith(f"/app?ex={OTHER}")
    late.hears("led.vote1")
    there.click()
    ada.ready()
    ada.hears("led.vote1")
    lead.page.goto(lead.address())
    lead.lead("discuss")
    there_is(ada, "main").click()
    ada.ready()
    ada.hears("led.discuss")
    assert ada.shown("static.R02.ttft") == "0.43"


def there_is(learner: Led, name: str) -> Locator:
    """The link to the exercise of the class, beside the words that say so."""
    words = app_words(learner.language)
    title = load(name).words(learner.language)("title")
    status = learner.find("#status[role=status]")
    expect(status).to_contain_text(words("led.elsewhere", title=title))
    link = status.get_by_role("link", name=words("led.elsewhere.go"), exact=True)
    expect(link).to_have_attribute("href", f"?ex={name}")
    assert edges(link)[1] - edges(link)[0] >= 44
    return link


@pytest.mark.parametrize("viewport", VIEWS)
def test_whoever_has_locked_sees_that_they_wait_and_for_whom(
    browsers: Callable[..., Led], teacher: Callable[[str], TeachersPage], viewport: dict[str, int]
) -> None:
    """After the lock, after a reload, and again in vote 2; not that a vote is open."""
    lead = teacher("en")
    lead.lead("vote1")
    learner = browsers(viewport=viewport)
    learner.join()
    learner.begin()
    expect(learner.find("#lock-note")).to_have_text(app_words("en")("led.final"))
    learner.vote(static__R02__ttft="0.43")
    for phase in ("vote1", "vote2"):
        if phase == "vote2":
            lead.lead(phase)
            learner.hears("led.vote2")
            learner.vote()
        for _ in range(2):
            learner.hears("said.kept")
            to_the_end(learner.page)
            in_view(learner)
            learner.reload()
    lead.lead("run")
    learner.hears("led.run")
    learner.run()
    learner.find("#observed").fill("1.1")
    learner.find("#observe-form button").click()
    for _ in range(2):
        learner.hears("said.observed")
        to_the_end(learner.page)
        in_view(learner)
        learner.reload()


def in_view(learner: Led) -> None:
    """What is said stands right below the steps, and nothing shows between them."""
    (_, strip), (upper, lower) = edges(learner.find("nav.strip")), edges(learner.find("#status"))
    assert strip - 1 <= upper <= strip
    assert lower <= 200


@pytest.mark.parametrize("viewport", VIEWS)
def test_the_word_of_a_lost_connection_is_not_hidden(
    browsers: Callable[..., Led], teacher: Callable[[str], TeachersPage], viewport: dict[str, int]
) -> None:
    """By nothing that stays in view: neither the steps nor what the teacher said."""
    teacher("en").lead("vote1")
    learner = browsers(viewport=viewport)
    learner.join()
    learner.hears("led.vote1")
    learner.page.evaluate("document.querySelector('#offline').hidden = false")
    to_the_end(learner.page)
    (_, strip), (upper, lower) = edges(learner.find("nav.strip")), edges(learner.find("#offline"))
    assert strip - 1 <= upper <= strip
    on_top = "([y]) => document.elementFromPoint(innerWidth / 2, y).closest('#offline') !== null"
    for height in (upper + 2, (upper + lower) / 2, lower - 4):
        assert learner.page.evaluate(on_top, [height])


def test_a_slip_and_an_impatient_finger_open_nothing(
    browsers: Callable[..., Led], teacher: Callable[[str], TeachersPage]
) -> None:
    lead = teacher("en")
    lead.lead("vote1")
    learner = browsers()
    learner.join_and_vote(static__R02__ttft="0.43")
    chosen: Any = lead.page.locator("button[aria-current=step]")
    for phase in ("reveal", "run", "free"):
        lead.page.locator(f".phases button[value={phase}]").dblclick()
        asked = lead.page.locator(".asked")
        expect(asked).to_be_visible()
        expect(chosen).to_have_attribute("value", "vote1")
        asked.get_by_role("link").click()
        expect(asked).to_have_count(0)
    lead.page.locator(".phases button[value=discuss]").dblclick()
    expect(chosen).to_have_attribute("value", "discuss")
    learner.hears("led.discuss")
    assert learner.known() == 0
    assert learner.secrets() == []
