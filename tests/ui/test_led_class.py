"""A teacher leads a class in real browsers: what each phase does to learners' pages, and what it hides."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from app.classroom.keys import keys_in
from app.classroom.words import class_words
from app.words import app_words
from tests.app.secrets import betrayed
from tests.classroom.running import ClassServing
from tests.ui.cable import Cable
from tests.ui.learner import REQUIRED, Learner

pytestmark = pytest.mark.ui

SOON = 20_000  # ms: a decision is looked for once a second
FIELD = "static.R02.ttft"


class Led(Learner):
    """A learner of a class."""

    language = "en"
    own: frozenset[str] = frozenset({*REQUIRED.values(), "1.2"})  # 1.20, as the server writes it

    def join(self, nickname: str = "") -> None:
        """By the code, then into the lab."""
        code = keys_in(self.server.folder / "data").join
        self.page.goto(f"{self.server.url}/?code={code}&lang={self.language}")
        self.page.goto(f"{self.server.url}/?lang={self.language}")
        self.page.fill("#nickname", nickname)
        self.page.click("form button")
        self.ready()

    def hears(self, key: str, **values: Any) -> None:
        """The page says it, in the learner's language, where a screen reader hears it."""
        said = app_words(self.language)(key, **values)
        expect(self.find("#status[role=status][aria-live=polite]")).to_have_text(said, timeout=SOON)

    def begin(self) -> None:
        if self.find("[data-command=read]").is_visible():
            self.find("[data-command=read]").click()
        self.at("predict")

    def vote(self, **changes: str) -> None:
        """Fill in and lock; the run stays closed."""
        self.fill(**changes)
        button = self.find("#predict button[type=submit]")
        expect(button).to_be_enabled(timeout=SOON)
        button.click()
        expect(self.find("#predict form.locked")).to_be_visible(timeout=SOON)

    def shown(self, field: str) -> str:
        return self.find(f"#predict [name='{field}']").input_value()

    def secrets(self) -> list[str]:
        """What anything this browser ever received gives away, but for the numbers it was typed itself."""
        found = betrayed("\n".join(self.received)) + betrayed(self.page.content())
        return [one for one in found if one not in self.own]


class TeachersPage:
    """The teacher's browser."""

    def __init__(self, page: Page, server: ClassServing, language: str) -> None:
        self.page, self.server, self.language = page, server, language
        key = keys_in(server.folder / "data").teacher
        page.goto(f"{server.teacher}/teach?key={key}")
        page.goto(self.address())

    def address(self, show: int = 0) -> str:
        return f"{self.server.teacher}/teach?exercise=main&lang={self.language}&show={show}"

    def lead(self, phase: str) -> None:
        self.page.click(f"button[name=phase][value={phase}]")
        expect(self.page.locator(f"button[value={phase}][aria-current=step]")).to_be_visible()

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()

    def board(self) -> str:
        """The votes as the teacher sees them now."""
        self.page.goto(self.address(show=1))
        return self.page.locator("#board").inner_text()


@pytest.fixture
def own(tmp_path: Path) -> Iterator[ClassServing]:
    """A class of its own; whatever happens in it, nothing may go wrong on the server."""
    server = ClassServing(tmp_path)
    server.start()
    yield server
    server.stop()
    assert server.faults() == [], server.log.read_text()


@pytest.fixture
def browsers(browser: Browser, own: ClassServing) -> Iterator[Callable[..., Led]]:
    """Makes learners of the class."""
    made: list[Led] = []

    def make(language: str = "en", **options: Any) -> Led:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}} | options)
        made.append(Led(context, own))
        made[-1].language = language
        return made[-1]

    yield make
    for learner in made:
        learner.leave()


@pytest.fixture
def teacher(browser: Browser, own: ClassServing) -> Iterator[Callable[[str], TeachersPage]]:
    """Opens the teacher's page in a browser of its own, which has to stay quiet."""
    complaints: list[str] = []
    context = browser.new_context(viewport={"width": 1280, "height": 900})

    def make(language: str = "en") -> TeachersPage:
        page = context.new_page()
        page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        return TeachersPage(page, own, language)

    yield make
    context.close()
    assert [
        said for said in complaints if "ERR_CONNECTION" not in said
    ] == []  # but for a server that is away


CUT = """[...document.querySelectorAll(".bins")].filter(
  (one) => one.parentElement.scrollWidth > one.parentElement.clientWidth,
).map((one) => one.innerText)"""
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
LOCK_STEP = {
    "en": ("Everyone to tick 0", "One tick on", "Release"),
    "zh": ("全班到 tick 0", "进一拍", "放开"),
}
SHOW = {"en": "Show them to the class", "zh": "给全班看"}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_vote_discuss_vote_again_run_together_and_see(
    browsers: Callable[..., Led], teacher: Callable[[str], TeachersPage], language: str
) -> None:
    lead = teacher(language)
    lead.lead("closed")
    ada, ben = browsers(language), browsers(language, viewport={"width": 390, "height": 844})
    for learner, name in ((ada, "Ada <b>"), (ben, "")):
        learner.join(name)
        learner.hears("led.closed")
        learner.begin()
        learner.fill()
        expect(learner.find("#predict button[type=submit]")).to_be_disabled()

    lead.lead("vote1")
    for learner, given in ((ada, "0.43"), (ben, "1.20")):
        learner.hears("led.vote1")
        learner.vote(static__R02__ttft=given)
        learner.hears("said.kept")
        expect(learner.find("#run")).to_be_hidden()
    projector = lead.page.context.new_page()
    projector.goto(f"{lead.server.teacher}/teach/project?lang={language}")
    expect(projector.locator(".counts strong").first).to_have_text("2", timeout=SOON)
    assert "0.43" not in projector.content()

    lead.lead("discuss")
    for learner in (ada, ben):
        learner.hears("led.discuss")
        learner.reload()  # a reload changes nothing
        learner.hears("led.discuss")
        expect(learner.find("#predict form.locked")).to_be_visible()

    lead.lead("vote2")
    for learner in (ada, ben):
        learner.hears("led.vote2")
    assert ada.shown(FIELD) == "0.43"
    ada.vote(static__R02__ttft="1.20")
    ben.vote(static__R02__ttft="1.20")
    assert ada.secrets() == ben.secrets() == []  # two votes, and nothing of the run was ever sent
    lead.press(SHOW[language])
    expect(projector.locator("#board")).to_contain_text("0.43 s", timeout=SOON)
    assert "✓" not in projector.content()

    begin, on, release = LOCK_STEP[language]
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
            assert learner.known() == tick + 1
    here = class_words(language)("project.tick", tick=2)
    expect(projector.locator("#board")).to_contain_text(here, timeout=SOON)
    ada.find("#run button.back").click()
    ada.page.wait_for_function("window.ticklab.tick === 1")  # looking back is free

    lead.press(release)
    for learner in (ada, ben):
        learner.hears("led.run")
    ada.run()
    ada.find("#observed").fill("1.1")
    ada.find("#observe-form button").click()
    ada.hears("said.observed")
    expect(ada.find("#verdict")).to_be_hidden()

    lead.lead("reveal")
    for learner in (ada, ben):
        learner.at("verdict")
        learner.hears("led.reveal")
        expect(learner.find("#verdict-content table").first).to_be_visible(timeout=SOON)
    words = app_words(language)
    expect(ada.find("#verdict-content")).to_contain_text(words("verdict.votes"))
    expect(ben.find("#verdict-content")).to_contain_text(words("verdict.votes.same"))
    expect(projector.locator("#board")).to_contain_text("✓", timeout=SOON)
    board = lead.board()
    assert re.search(r"1: from “.+” to “right”|1 人：从“.+”改为“正确”", board)
    lead.page.locator("#people summary").click()
    expect(lead.page.locator("#people")).to_contain_text("Ada <b>")
    for page in (lead.page, projector):
        page.set_viewport_size({"width": 390, "height": 844})
        assert page.evaluate(WIDER) <= 0
        assert page.evaluate(CUT) == []
    assert ben.page.evaluate(WIDER) <= 0


def test_a_late_joiner_votes_in_round_2_only_and_is_counted_apart(
    browsers: Callable[..., Led], teacher: Callable[[str], TeachersPage]
) -> None:
    lead = teacher("en")
    lead.lead("vote1")
    early = browsers()
    early.join()
    early.begin()
    early.vote(static__R02__ttft="0.43")
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


def test_a_phone_that_slept_wakes_where_the_class_is(
    own: ClassServing, browsers: Callable[..., Led], teacher: Callable[[str], TeachersPage]
) -> None:
    """The network goes in vote 1, with something typed; it comes back in the run."""
    cable = Cable(own.port)
    own.stop()
    own.options = ["--origins", cable.origin]
    own.start()
    lead = teacher("en")
    try:
        own.at(cable.port)
        phone = browsers(viewport={"width": 390, "height": 844})
        phone.expected = ["WebSocket", "ERR_", "Failed to", "Lost websocket", "Unable to", "reconnect"]
        lead.lead("vote1")
        phone.join()
        phone.begin()
        phone.vote(static__R02__ttft="0.43")
        cable.pull()
        phone.page.wait_for_selector("html[data-connection=lost]", timeout=SOON)
        lead.lead("vote2")
        lead.press("Everyone to tick 0")
        lead.lead("run")
        lead.press("One tick on")
        cable.plug()
        phone.page.wait_for_function("window.ticklab?.tick === 1", timeout=60_000)
        phone.hears("led.tick", tick=1)
        cable.pull()
        phone.page.wait_for_selector("html[data-connection=lost]", timeout=SOON)
        lead.lead("reveal")
        cable.plug()
        expect(phone.find("html")).to_have_attribute("data-step", "verdict", timeout=60_000)
        expect(phone.find("#verdict-content table").first).to_be_visible(timeout=SOON)
    finally:
        cable.close()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_server_that_starts_again_in_a_led_exercise_finds_the_class(
    own: ClassServing, browsers: Callable[..., Led], teacher: Callable[[str], TeachersPage], language: str
) -> None:
    """Killed in vote 1 with a draft typed, and in lock step; the cookies of both sides still let them in."""
    lead, learner = teacher(language), browsers(language)
    learner.expected = ["WebSocket", "ERR_", "Failed to", "not connected so cannot send"]
    lead.lead("vote1")
    learner.join("Ada")
    learner.begin()
    own.stop(kill=True)
    expect(learner.find("#offline[role=alert]")).to_contain_text(app_words(language)("offline.title"))
    learner.find(f"#predict [name='{FIELD}']").fill("0.66")
    own.start()
    expect(learner.find("#offline")).to_be_hidden(timeout=60_000)
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
    own.stop(kill=True)
    expect(learner.find("#offline")).to_be_visible(timeout=SOON)
    own.start()
    expect(learner.find("#offline")).to_be_hidden(timeout=60_000)
    learner.ready()
    learner.hears("led.tick", tick=1)
    learner.page.wait_for_function("window.ticklab.tick === 1", timeout=SOON)
    lead.page.goto(lead.address())
    lead.press(on)
    learner.hears("led.tick", tick=2)
    lead.lead("reveal")
    learner.at("verdict")
    expect(learner.find("#verdict-content table").first).to_be_visible(timeout=SOON)


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
        if phase != "vote1":  # it is there already
            learner.hears(f"led.{phase}")
        sent = len(learner.sent)
        learner.page.evaluate(ask)
        learner.page.wait_for_function("Bokeh.documents.every((one) => one.is_idle)")
        learner.page.wait_for_timeout(500)
        assert len(learner.sent) > sent
        learner.reload()
        learner.hears(f"led.{phase}")
        assert learner.secrets() == []
        assert learner.known() == 0
    lead.lead("run")
    learner.hears("led.run")
    learner.run()
    assert betrayed("\n".join(learner.received))


def test_the_end_of_a_class_leaves_the_verdict_and_its_deletion_the_page(
    own: ClassServing, browsers: Callable[..., Led], teacher: Callable[[str], TeachersPage]
) -> None:
    lead = teacher("en")
    lead.lead("vote1")
    learner = browsers()
    learner.join()
    learner.begin()
    learner.vote(static__R02__ttft="0.43")
    lead.lead("reveal")
    learner.at("verdict")
    expect(learner.find("#verdict-content table").first).to_be_visible(timeout=SOON)
    lead.page.goto(f"{own.teacher}/teach/classes?lang=en")
    lead.press("End the class")
    learner.hears("led.ended")
    learner.at("verdict")
    expect(learner.find("#verdict-content table").first).to_be_visible()
    learner.find("[data-command=again]").click()
    expect(learner.find("#status[data-kind=refused]")).to_be_visible(timeout=SOON)  # nothing new begins
    learner.hears("led.ended")
    learner.at("verdict")
    lead.page.goto(f"{own.teacher}/teach/classes?lang=en&delete=1")
    lead.press("Delete for good")
    learner.page.reload()
    expect(learner.find("[role=status]")).to_have_text(class_words("en")("landing.over"), timeout=SOON)
