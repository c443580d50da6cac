"""Free play with a keyboard, on a phone, in the dark, without a script."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.serving import Serving
from tests.ui.learner import Learner
from tests.ui.player import Player
from tests.ui.test_page import findings

pytestmark = pytest.mark.ui


@pytest.mark.parametrize(("language", "scheme"), [("en", "light"), ("zh", "dark")])
def test_axe_finds_nothing_serious(
    learners: Callable[..., Learner], lab: Serving, language: str, scheme: str
) -> None:
    play = Player(learners(lab, color_scheme=scheme), f"?play=&lang={language}")
    assert findings(play.page) == []
    play.compare()
    play.find("#keep").click()
    play.set(decode_slots="1")
    play.find("#look").click()
    play.run()
    play.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
    assert findings(play.page) == []


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_phone_never_scrolls_sideways(
    learners: Callable[..., Learner], lab: Serving, language: str
) -> None:
    screen = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    phone = learners(lab, **screen, reduced_motion="reduce")  # else the page still glides when it is touched
    play = Player(phone, f"?play=&lang={language}")
    width = "document.scrollingElement.scrollWidth"
    assert play.page.evaluate(width) <= 390
    play.compare()
    play.find("#run-title").fill("x" * 60)
    play.find("#keep").click()
    play.set(decode_slots="1")
    play.find("#look").click()
    play.run()
    play.find("#share").click()
    expect(play.find("#link")).to_be_visible()
    assert play.page.evaluate(width) <= 390
    small = play.page.evaluate(
        "[...document.querySelectorAll('.play button, .play select, .play input, .play summary')]"
        ".filter((one) => one.offsetParent && !one.matches('.quiet, [type=radio]') && one.offsetHeight < 44)"
        ".map((one) => one.outerHTML.slice(0, 80))"
    )
    assert small == []


def test_pictures_and_tables_have_the_width_beside_the_form(play: Player) -> None:
    """At 1280 px nothing of a run is squeezed into a part of its column."""
    play.page.set_viewport_size({"width": 1280, "height": 900})
    play.run()
    column = play.find(".results").evaluate("(one) => one.clientWidth")
    assert column > 700
    for part in ("#summary table", "#pictures table[role=grid]", "#pictures .bars"):
        width = play.find(part).first.evaluate("(one) => one.getBoundingClientRect().right")
        left = play.find(".results").evaluate("(one) => one.getBoundingClientRect().left")
        assert width - left > 0.75 * column, part


def test_everything_by_keyboard(play: Player) -> None:
    learner = play.learner
    play.find("h1").click()
    learner.tab_to(id="trace")
    learner.press("Control+End", "Enter")
    play.page.keyboard.type("R05,0.5,4,2,More")
    learner.tab_to(id="set-decode_slots")
    play.page.keyboard.type("2")
    learner.tab_to(id="play-run")
    learner.press("Enter")
    play.wait("done")
    assert len(play.page.evaluate("window.ticklab.runs[0].timeline.rows")) == 5
    expect(play.find("#announcement")).to_have_text("Done.")
    learner.tab_to(id="share")
    learner.press("Enter")
    expect(play.find("#link")).to_be_visible()


def test_without_a_script_the_page_says_what_to_do(learners: Callable[..., Learner], lab: Serving) -> None:
    learner = learners(lab, java_script_enabled=False)
    learner.page.goto(f"{lab.page}?play=")
    expect(learner.find("main noscript pre")).to_be_visible()
    for text in ("Free play needs JavaScript", "python -m engine simulate TRACE"):
        assert text in learner.find("main noscript").inner_html()
    expect(learner.find("#play-form")).to_be_hidden()
    learner.find("main .card a").click()
    expect(learner.find("h1")).to_be_visible()
    assert "/read/en/" in learner.page.url


def test_the_list_of_exercises_leads_here(learner: Learner) -> None:
    learner.open()
    learner.find("details.contents summary").click()
    learner.find("details.contents").get_by_role("link", name="Free play").click()
    learner.ready()
    expect(learner.find("h1")).to_have_text("Free play")
