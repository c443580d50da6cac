"""When something breaks: the engine, the server, the network."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import expect

from tests.serving import Serving
from tests.ui.cable import Cable
from tests.ui.learner import Learner

pytestmark = pytest.mark.ui
BACK = 180_000  # ms
LOST = [  # what a browser says of a server that is away
    "WebSocket",
    "websocket",
    "Failed to load resource",
    "Failed to connect",
    "not connected so cannot send",
    "Closing connection",
]


@pytest.fixture
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A server that this test may break."""
    server = Serving(tmp_path_factory.mktemp("own"))
    server.measure()
    try:
        server.start()
        yield server
    finally:
        server.stop()


def test_a_killed_engine_is_told_and_the_next_run_works(
    own: Serving, learners: Callable[..., Learner]
) -> None:
    learner = learners(own)
    learner.predict()
    worker = own.worker()
    os.kill(worker, signal.SIGSTOP)
    learner.find("#run button.step").click()
    own.wait_until_asked()
    os.kill(worker, signal.SIGKILL)
    expect(learner.find("#run").get_by_role("alert")).to_contain_text("The engine process ended")
    assert learner.known() == 0
    learner.run()
    learner.observe()
    assert own.worker() != worker


def test_a_server_that_comes_back_finds_everything(own: Serving, learners: Callable[..., Learner]) -> None:
    learner = learners(own)
    learner.expected += LOST
    learner.predict()
    learner.step()
    learner.step()
    own.stop(kill=True)
    expect(learner.find("#offline")).to_be_visible()
    assert learner.page.evaluate("document.querySelector('#run').inert")
    own.start()
    expect(learner.find("#offline")).to_be_hidden(timeout=BACK)
    learner.ready()
    learner.at("run")
    learner.knows(2)
    learner.run()


@pytest.fixture
def cabled(own: Serving) -> Iterator[Cable]:
    """The cable by which browsers come to ``own``."""
    cable = Cable(own.port)
    own.stop()
    own.environment["BOKEH_ALLOW_WS_ORIGIN"] = cable.origin
    own.start()
    own.at(cable.port)
    yield cable
    cable.close()


def test_a_short_cut_of_the_network_loses_nothing(
    own: Serving, cabled: Cable, learners: Callable[..., Learner]
) -> None:
    learner = learners(own)
    learner.expected += LOST
    learner.predict()
    learner.step()
    cabled.pull()
    expect(learner.find("#offline")).to_be_visible()
    learner.page.wait_for_timeout(3000)
    cabled.plug()
    expect(learner.find("#offline")).to_be_hidden(timeout=BACK)
    learner.ready()
    learner.at("run")
    learner.knows(1)
    learner.step()
    learner.knows(2)
    learner.run()
    learner.observe()


def test_a_long_cut_of_the_network_loses_nothing(
    own: Serving, cabled: Cable, learners: Callable[..., Learner]
) -> None:
    """Longer than Bokeh tries to come back by itself, and than it keeps a session without a browser."""
    learner = learners(own)
    learner.expected += LOST
    learner.read()
    learner.fill()
    cabled.pull()
    expect(learner.find("#offline")).to_be_visible()
    learner.find("#f-why").fill("typed in the dark")
    learner.page.wait_for_timeout(35_000)
    cabled.plug()
    expect(learner.find("#offline")).to_be_hidden(timeout=BACK)
    learner.ready()
    expect(learner.find("#f-why")).to_have_value("typed in the dark")
    learner.lock()


def test_what_is_typed_offline_is_kept(own: Serving, learners: Callable[..., Learner]) -> None:
    learner = learners(own)
    learner.expected += LOST
    learner.read()
    learner.fill()
    own.stop(kill=True)
    expect(learner.find("#offline")).to_be_visible()
    learner.find("#predict [name='static.R02.ttft']").fill("0.66")
    learner.find("#predict button[type=submit]").click()
    learner.at("predict")
    own.start()
    expect(learner.find("#offline")).to_be_hidden(timeout=BACK)
    learner.ready()
    expect(learner.find("#predict [name='static.R02.ttft']")).to_have_value("0.66")
    learner.lock()
