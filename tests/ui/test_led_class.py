"""A teacher leads a class in real browsers: what each phase does to learners' pages, and what it hides."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from app.classroom.words import class_words
from app.words import app_words
from tests.app.secrets import betrayed
from tests.classroom.running import ClassServing
from tests.ui.leading import FIELD, LOCK_STEP, SOON, Led, TeachersPage
from tests.ui.learner import REQUIRED

pytestmark = pytest.mark.ui


CUT = """[...document.querySelectorAll(".bins")].filter(
  (one) => one.parentElement.scrollWidth > one.parentElement.clientWidth,
).map((one) => one.innerText)"""
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
SHOW = {"en": "Show them to the class", "zh": "给全班看"}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_vote_discuss_vote_again_run_together_and_see(
    browsers: Callable[..., Led], teacher: Callable[[str], TeachersPage], language: str
) -> None:
    lead = teacher(language)
    lead.lead("closed")
    ada, ben = browsers(language), browsers(language, viewport={"width": 390, "height": 844})
    come_in(ada, "Ada <b>")
    come_in(ben, "")
    lead.lead("vote1")
    first_vote(ada, "0.43")
    first_vote(ben, "1.20")
    projector = lead.page.context.new_page()
    projector.goto(f"{lead.server.teacher}/teach/project?lang={language}")
    expect(projector.locator(".counts strong").first).to_have_text("2", timeout=SOON)
    assert "0.43" not in projector.content()
    discuss(lead, ada, ben)
    vote_again(lead, ada, ben)
    lead.press(SHOW[language])
    expect(projector.locator("#board")).to_contain_text("0.43 s", timeout=SOON)
    assert "✓" not in projector.content()
    go_in_step(lead, ada, ben)
    here = class_words(language)("project.tick", tick=2)
    expect(projector.locator("#board")).to_contain_text(here, timeout=SOON)
    run_alone(lead, ada, ben)
    see(lead, ada, ben)
    expect(projector.locator("#board")).to_contain_text("✓", timeout=SOON)
    assert re.search(r"1: from “.+” to “right”|1 人：从“.+”改为“正确”", lead.board())
    lead.page.locator("#people summary").click()
    expect(lead.page.locator("#people")).to_contain_text("Ada <b>")
    fits_a_phone(lead.page, projector, ben.page)


def come_in(learner: Led, name: str) -> None:
    """While the vote is closed one may write, and not lock."""
    learner.join(name)
    learner.hears("led.closed")
    learner.begin()
    learner.fill()
    expect(learner.find("#predict button[type=submit]")).to_be_disabled()


def first_vote(learner: Led, given: str) -> None:
    learner.hears("led.vote1")
    learner.vote(static__R02__ttft=given)
    learner.hears("said.kept")
    expect(learner.find("#run")).to_be_hidden()


def discuss(lead: TeachersPage, *learners: Led) -> None:
    """The votes stay locked, and a reload changes nothing."""
    lead.lead("discuss")
    for learner in learners:
        learner.hears("led.discuss")
        learner.reload()
        learner.hears("led.discuss")
        expect(learner.find("#predict form.locked")).to_be_visible()


def vote_again(lead: TeachersPage, ada: Led, ben: Led) -> None:
    """One changes her number, one keeps his; nothing of the run was ever sent."""
    lead.lead("vote2")
    for learner in (ada, ben):
        learner.hears("led.vote2")
    assert ada.shown(FIELD) == "0.43"
    ada.vote(static__R02__ttft="1.20")
    ben.vote(static__R02__ttft="1.20")
    assert ada.secrets() == ben.secrets() == []


def go_in_step(lead: TeachersPage, ada: Led, ben: Led) -> None:
    """Three ticks for everybody; looking back is free."""
    begin, on, _ = LOCK_STEP[lead.language]
    lead.press(begin)
    lead.lead("run")
    for learner in (ada, ben):
        learner.hears("led.tick", tick=0)
        learner.page.wait_for_function("window.ticklab.tick === 0")
        expect(learner.find("#run button.step")).to_be_disabled()
    for tick in (1, 2):
        lead.press(on)
        for learner in (ada, ben):
            learner.hears("led.tick", tick=tick)
            learner.page.wait_for_function("tick => window.ticklab.tick === tick", arg=tick)
            learner.knows(tick + 1)
    ada.find("#run button.back").click()
    ada.page.wait_for_function("window.ticklab.tick === 1")


def run_alone(lead: TeachersPage, ada: Led, ben: Led) -> None:
    """Released, one runs to the end; the verdict waits for the teacher."""
    lead.press(LOCK_STEP[lead.language][2])
    for learner in (ada, ben):
        learner.hears("led.run")
    ada.run()
    ada.find("#observed").fill("1.1")
    ada.find("#observe-form button").click()
    ada.hears("said.observed")
    expect(ada.find("#verdict")).to_be_hidden()


def see(lead: TeachersPage, ada: Led, ben: Led) -> None:
    """The verdict, also for one who has not run to the end, and what became of each one's vote."""
    lead.lead("reveal")
    for learner in (ada, ben):
        learner.at("verdict")
        learner.hears("led.reveal")
        expect(learner.find("#verdict-content table").first).to_be_visible(timeout=SOON)
    words = app_words(lead.language)
    expect(ada.find("#verdict-content")).to_contain_text(words("verdict.votes"))
    expect(ben.find("#verdict-content")).to_contain_text(words("verdict.votes.same"))


def fits_a_phone(*pages: Page) -> None:
    for page in pages:
        page.set_viewport_size({"width": 390, "height": 844})
        assert page.evaluate(WIDER) <= 0
        assert page.evaluate(CUT) == []


def test_a_late_joiner_votes_in_round_2_only_and_is_counted_apart(
    browsers: Callable[..., Led], teacher: Callable[[str], TeachersPage]
) -> None:
    lead = teacher("en")
    lead.lead("vote1")
    early = browsers()
    early.join_and_vote(static__R02__ttft="0.43")
    lead.lead("discuss")
    late = browsers()
    late.join()
    late.hears("led.discuss")
    late.begin()
    late.fill(static__R02__ttft="0.9")
    expect(late.find("#predict button[type=submit]")).to_be_disabled()
    lead.lead("vote2")
    late.hears("led.vote2.late")
    assert late.shown(FIELD) == "0.9"  # what was typed while it was closed
    late.vote(static__R02__ttft="0.9")
    board = lead.board()
    assert "1 locked vote 2, 1 of them for the first time" in " ".join(board.split())
    lead.lead("run")
    latest = browsers()
    latest.join()
    latest.hears("led.late")
    latest.begin()
    expect(latest.find("#run")).to_be_hidden()
    lead.lead("reveal")
    for learner in (early, late):
        learner.at("verdict")
    latest.hears("led.late")
    assert latest.secrets() == []
    lead.lead("free")
    latest.hears("led.free")
    latest.vote()
    latest.run()


def test_two_tabs_of_one_learner_follow_together(
    browsers: Callable[..., Led], teacher: Callable[[str], TeachersPage]
) -> None:
    lead = teacher("en")
    lead.lead("vote1")
    learner = browsers()
    learner.join()
    learner.begin()
    other = learner.open("?lang=en", learner.new_page())
    learner.vote(static__R02__ttft="0.43")
    lead.lead("vote2")
    learner.hears("led.vote2")
    field = other.locator(f"#predict [name='{FIELD}']")
    expect(field).to_have_value("0.43", timeout=SOON)
    learner.vote(static__R02__ttft="0.5")
    other.locator("#predict button[type=submit]").click()  # the same vote once more: the first lock counts
    expect(other.locator("#predict form.locked")).to_be_visible(timeout=SOON)
    expect(other.locator("#predict form.locked")).to_contain_text("0.5")
    lead.lead("run")
    lead.page.goto(lead.address())
    lead.press("Everyone to tick 0")
    for page in (learner.page, other):
        page.wait_for_function("window.ticklab.tick === 0", timeout=SOON)
    other.close()  # a tab that is closed takes nothing with it
    lead.press("One tick on")
    learner.page.wait_for_function("window.ticklab.tick === 1", timeout=SOON)


def test_nothing_of_the_run_is_sent_before_it_is_open_whatever_a_browser_says(
    browsers: Callable[..., Led], teacher: Callable[[str], TeachersPage]
) -> None:
    lead = teacher("en")
    lead.lead("vote1")
    learner = browsers()
    learner.join()
    learner.begin()
    learner.own = frozenset()
    learner.vote(**{key.replace(".", "__"): "77.7" for key in REQUIRED})  # nothing of its own is right
    ask = """() => {
      const { model } = window.ticklabDesk
      for (const name of ["reveal", "again"]) model.send_msg({ name })
      model.send_msg({ name: "observe", text: "1.1" })
    }"""
    for phase in ("vote1", "discuss", "vote2", "closed"):
        lead.lead(phase)
        said = "said.kept" if phase == "vote1" else f"led.{phase}"
        learner.hears(said)
        sent = len(learner.sent)
        learner.page.evaluate(ask)
        learner.page.wait_for_function("Bokeh.documents.every((one) => one.is_idle)")
        learner.page.wait_for_timeout(500)
        assert len(learner.sent) > sent
        learner.reload()
        learner.hears(said)
        assert learner.secrets() == []
        assert learner.known() == 0
    lead.lead("run")
    learner.hears("led.run")
    learner.run()
    assert betrayed("\n".join(learner.received))


def test_the_end_of_a_class_leaves_the_verdict_and_its_deletion_the_page(
    own_class: ClassServing, browsers: Callable[..., Led], teacher: Callable[[str], TeachersPage]
) -> None:
    lead = teacher("en")
    lead.lead("vote1")
    learner = browsers()
    learner.join_and_vote(static__R02__ttft="0.43")
    lead.lead("reveal")
    learner.at("verdict")
    expect(learner.find("#verdict-content table").first).to_be_visible(timeout=SOON)
    lead.page.goto(f"{own_class.teacher}/teach/classes?lang=en")
    lead.press("End the class")
    learner.hears("led.ended")
    learner.at("verdict")
    expect(learner.find("#verdict-content table").first).to_be_visible()
    learner.find("[data-command=again]").click()
    expect(learner.find("#status[data-kind=refused]")).to_be_visible(timeout=SOON)  # nothing new begins
    learner.hears("led.ended")
    learner.at("verdict")
    lead.page.goto(f"{own_class.teacher}/teach/classes?lang=en&delete=1")
    lead.press("Delete for good")
    learner.page.reload()
    expect(learner.find("[role=status]")).to_have_text(class_words("en")("landing.over"), timeout=SOON)
