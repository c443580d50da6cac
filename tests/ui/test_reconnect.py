"""The connection goes and comes back (case C02), at each stage of a lesson and in both languages.

Three cuts of the network: ``short``, while Bokeh still tries by itself; ``longer`` than it tries, but not
than the server keeps a session that has no browser; ``long`` enough for the session to be gone. And a
server that is killed and started again. Four learners are at it: one types a prediction, one has locked
it, one is in the middle of the run, one reads the verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import expect

from app.play.words import play_page_words
from app.words import app_words
from tests.serving import Serving
from tests.ui.cable import Cable
from tests.ui.learner import Learner
from tests.ui.player import Player

pytestmark = pytest.mark.ui

SOON = 120_000  # ms: ten seconds, and many more for a machine that has other things to do
BACK = 180_000  # ms
SESSION = "window.ticklabDesk.session"
GIVEN_UP = "window.ticklabConnection.socket?._reconnection_attempts_left <= 0"
CUT_IN_A_MESSAGE = """() => {
  window.addEventListener("ticklab:connection", ({ detail }) => { window.cameBack = detail.open })
  const connection = window.ticklabConnection.socket
  connection._receiver.consume('{"msgtype": "PATCH-DOC"}')
  connection.socket.close()
}"""
# A page that is about to be loaded anew must not seem to be back: what is done on it would be lost.
WATCH = """() => {
  const banner = document.querySelector("#offline")
  new MutationObserver(() => { if (banner.hidden) sessionStorage.setItem("seemed", "back") })
    .observe(banner, { attributes: true })
}"""
USABLE = "html[data-step=observe], #run button.end:enabled"
FIELD = "#predict [name='static.R02.ttft']"
STAGES = ("draft", "locked", "run", "verdict")
LIFETIME = {"short": 600_000, "longer": 600_000, "long": 1000, "restart": 600_000}  # ms without a browser
KEPT = ("--unused-session-lifetime", "600000")  # on a busy machine a short cut may take its time
NETWORK = ["WebSocket", "websocket", "Failed to", "not connected so cannot send"]


@contextmanager
def cabled(folder: Path, *options: str) -> Iterator[tuple[Serving, Cable]]:
    """A server, and the cable by which browsers come to it. Nothing may go wrong on the server."""
    server = Serving(folder)
    server.measure()
    cable = Cable(server.port)
    server.environment["BOKEH_ALLOW_WS_ORIGIN"] = cable.origin
    server.options = list(options)
    try:
        server.start()
        server.at(cable.port)
        yield server, cable
    finally:
        cable.close()
        server.stop()
    assert "Traceback" not in server.log.read_text(), server.log.read_text()


def until_nobody_is_remembered(server: Serving, learner: Learner) -> None:
    """Wait until the server has thrown every session away."""
    for _ in range(BACK // 200):
        if server.figure("ticklab_sessions_open") == 0:
            return
        learner.page.wait_for_timeout(200)
    raise AssertionError("the server kept its sessions")


def bring_to(stage: str, learner: Learner, language: str) -> None:
    """Take a learner to where the connection will be lost."""
    learner.expected += NETWORK
    learner.read(f"?lang={language}")
    learner.fill()
    if stage == "draft":
        return
    learner.lock()
    if stage == "run":
        for _ in range(5):
            learner.step()
        learner.press("ArrowLeft", "ArrowLeft")
        learner.page.wait_for_function("window.ticklab.tick === 2")
    if stage == "verdict":
        learner.run()
        learner.observe()


def sees_the_loss(learner: Learner, language: str) -> None:
    """Words, in the learner's language, where a screen reader hears them; and nothing to press."""
    banner = learner.find("#offline[role=alert]")
    expect(banner).to_be_visible(timeout=SOON)
    said = [app_words(language)(key) for key in ("offline.title", "offline.text")]
    expect(banner.locator("[data-said]:visible")).to_have_text([" ".join(said)])
    expect(banner.locator("a")).to_have_text(app_words(language)("offline.reload"))
    assert learner.page.evaluate("[...document.querySelectorAll('.needs-server')].every((one) => one.inert)")


def acts_in_the_dark(stage: str, learner: Learner) -> None:
    """What one does without a server: type, try to lock, try to leave the page."""
    if stage == "draft":
        learner.find("#f-why").fill("typed in the dark")
        learner.find(FIELD).fill("0.66")
        learner.find("#predict [name='slow.R04.tpot']").fill("")
        learner.find("#predict button[type=submit]").click()
    address = learner.page.url
    learner.find("header a[hreflang]").first.click()
    assert learner.page.url == address
    expect(learner.find("#offline")).to_be_visible()


def finds_everything(stage: str, learner: Learner) -> None:
    """What was there before is there, and it goes on to the end."""
    if stage == "draft":
        learner.at("predict")
        expect(learner.find("#f-why")).to_have_value("typed in the dark")
        expect(learner.find(FIELD)).to_have_value("0.66")
        expect(learner.find("#predict [name='slow.R04.tpot']")).to_have_value("")
        learner.find("#predict [name='slow.R04.tpot']").fill("1")
        learner.lock()
        expect(learner.find("#predict")).to_contain_text("0.66 s")
    elif stage == "locked":
        learner.at("run")
        expect(learner.find("#predict form.locked")).to_contain_text("0.43 s")
        learner.step()
        assert learner.known() == 1
    elif stage == "run":
        learner.at("run")
        learner.page.wait_for_function("window.ticklab.tick === 2")
        learner.knows(5)
        learner.run()
        learner.observe()
    else:
        learner.at("verdict")
        expect(learner.find("#verdict-content table").first).to_be_visible()
        expect(learner.find("#observed")).to_have_value("1.1")
        expect(learner.find("#again button")).to_be_enabled()


def cut(kind: str, server: Serving, cable: Cable, learners: dict[str, Learner], language: str) -> None:
    """Lose the connection, do what one does, and have it again."""
    if kind == "restart":
        server.stop(kill=True)
    else:
        cable.pull()
    for stage, learner in learners.items():
        sees_the_loss(learner, language)
        learner.page.evaluate(WATCH)
        acts_in_the_dark(stage, learner)
    if kind == "longer":
        for learner in learners.values():
            learner.page.wait_for_function(GIVEN_UP, timeout=BACK)
    if kind == "long":
        until_nobody_is_remembered(server, learners["draft"])
    if kind == "restart":
        server.at(server.port)
        server.start()
        server.at(cable.port)
    cable.plug()


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("kind", ["short", "longer", "long", "restart"])
def test_c02_a_cut_loses_nothing(
    kind: str, language: str, tmp_path: Path, learners: Callable[..., Learner]
) -> None:
    options = ("--unused-session-lifetime", str(LIFETIME[kind]), "--check-unused-sessions", "500")
    with cabled(tmp_path, *options) as (server, cable):
        group = {stage: learners(server) for stage in STAGES}
        for stage, learner in group.items():
            bring_to(stage, learner, language)
            learner.page.evaluate("window.same = true")
        sessions = {stage: learner.page.evaluate(SESSION) for stage, learner in group.items()}
        cut(kind, server, cable, group, language)
        for stage, learner in group.items():
            expect(learner.find("#offline")).to_be_hidden(timeout=BACK)
            learner.ready()
            same = learner.page.evaluate("window.same === true")
            assert same == (learner.page.evaluate(SESSION) == sessions[stage])
            assert same == (kind in ("short", "longer"))
            assert same == (learner.page.evaluate("sessionStorage.getItem('seemed')") == "back")
            if not same:
                expect(learner.find("#status")).to_have_text(app_words(language)("offline.back"))
            finds_everything(stage, learner)
        for learner in group.values():
            learner.leave()


def test_c02_a_cut_in_the_middle_of_a_message(tmp_path: Path, learners: Callable[..., Learner]) -> None:
    """What has come of it is forgotten: the next socket's first message is not taken for its other half."""
    with cabled(tmp_path, *KEPT) as (server, cable):
        learner = learners(server)
        bring_to("draft", learner, "en")
        cable.pull()
        sees_the_loss(learner, "en")
        acts_in_the_dark("draft", learner)
        cable.plug()
        expect(learner.find("#offline")).to_be_hidden(timeout=BACK)
        learner.page.evaluate(CUT_IN_A_MESSAGE)
        learner.page.wait_for_function("window.cameBack === true", timeout=BACK)
        expect(learner.find("#offline")).to_be_hidden(timeout=BACK)
        assert not [said for said in learner.complaints if "Closing connection" in said]
        finds_everything("draft", learner)
        learner.leave()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_c02_a_network_that_swallows_everything_is_noticed(
    language: str, tmp_path: Path, learners: Callable[..., Learner]
) -> None:
    """No socket is closed: only the answers stay away."""
    with cabled(tmp_path, "--keep-alive", "600000") as (server, cable):
        learner = learners(server)
        bring_to("draft", learner, language)
        session = learner.page.evaluate(SESSION)
        cable.swallow()
        sees_the_loss(learner, language)
        assert not learner.page.evaluate("window.ticklabConnection.cut")
        acts_in_the_dark("draft", learner)
        learner.find("#offline a").click()  # a reload now would end in the browser's own page of error
        expect(learner.find("#offline [data-said=still]")).to_be_visible(timeout=SOON)
        cable.plug()
        expect(learner.find("#offline")).to_be_hidden(timeout=BACK)
        assert learner.page.evaluate(SESSION) == session
        finds_everything("draft", learner)
        learner.leave()


def test_c02_a_cut_in_a_question_leaves_the_run_usable(
    tmp_path: Path, learners: Callable[..., Learner]
) -> None:
    """The answer to a step, and to "to the end", never comes."""
    with cabled(tmp_path, *KEPT) as (server, cable):
        learner = learners(server)
        bring_to("locked", learner, "en")
        for button in ("step", "end"):
            learner.find(f"#run button.{button}").click()
            cable.pull()
            expect(learner.find("#offline")).to_be_visible(timeout=SOON)
            cable.plug()
            expect(learner.find("#offline")).to_be_hidden(timeout=BACK)
        learner.ready()
        expect(learner.find(USABLE).first).to_be_attached(timeout=BACK)
        learner.find("#run button.end").evaluate("(button) => button.click()")  # nothing, if it is at the end
        learner.at("observe")
        learner.find("#observed").fill("1.1")
        learner.reload()
        expect(learner.find("#observed")).to_have_value("1.1")  # typed, not yet sent
        learner.find("#observe-form button").click()
        learner.at("verdict")
        learner.leave()


def test_what_is_typed_offline_outlives_its_tab(tmp_path: Path, learners: Callable[..., Learner]) -> None:
    with cabled(tmp_path) as (server, cable):
        learner = learners(server)
        bring_to("draft", learner, "en")
        cable.pull()
        sees_the_loss(learner, "en")
        learner.find("#f-why").fill("typed in the dark")
        learner.page.close()
        cable.plug()
        learner.page = learner.new_page()
        learner.open()
        expect(learner.find("#f-why")).to_have_value("typed in the dark")
        learner.leave()


@pytest.mark.parametrize(("kind", "language"), [("short", "zh"), ("long", "en"), ("long", "zh")])
def test_c02_free_play_says_what_a_cut_took(
    kind: str, language: str, tmp_path: Path, learners: Callable[..., Learner]
) -> None:
    """A result is never replaced by nothing without a word, and what was typed is there."""
    options = ("--unused-session-lifetime", str(LIFETIME[kind]), "--check-unused-sessions", "500")
    with cabled(tmp_path, *options) as (server, cable):
        learner = learners(server)
        learner.expected += NETWORK
        play = Player(learner, f"?play=&lang={language}")
        play.run()
        play.set(tick="1.0")
        shown = play.find("#summary").inner_html()
        cable.pull()
        sees_the_loss(learner, language)
        if kind == "long":
            until_nobody_is_remembered(server, learner)
        cable.plug()
        expect(learner.find("#offline")).to_be_hidden(timeout=BACK)
        learner.ready()
        expect(play.find("#set-tick")).to_have_value("1.0")
        if kind == "short":
            assert play.find("#summary").inner_html() == shown
        else:
            expect(play.find("#status")).to_have_text(play_page_words(language)("back"))
        play.run()
        assert play.runs() == [["immediate", 19], ["static", 15], ["continuous", 12]]
        learner.leave()
