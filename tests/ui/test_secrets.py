"""Until the lock nothing of the run is in the browser, whatever the browser says."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.app.secrets import betrayed
from tests.ui.learner import Learner

pytestmark = pytest.mark.ui


def test_no_frame_before_the_lock_holds_an_answer(learner: Learner) -> None:
    learner.read()
    learner.fill()
    learner.page.wait_for_timeout(1000)
    assert len(learner.received) > 3
    received = "\n".join(learner.received)
    assert betrayed(received) == []
    assert betrayed(learner.page.content()) == []
    learner.lock()
    learner.run()
    assert betrayed("\n".join(learner.received))


def test_the_run_is_closed_before_the_lock(learner: Learner) -> None:
    learner.read()
    expect(learner.find("#run")).to_be_hidden()
    learner.press("Escape", "ArrowRight", "End")
    learner.page.wait_for_timeout(500)
    assert learner.known() == 0


def test_playing_a_recorded_run_sends_nothing(learner: Learner) -> None:
    learner.predict()
    learner.run()
    learner.find("#run button.play").focus()
    learner.press("Home")
    learner.page.wait_for_function("window.ticklab.tick === -1")
    learner.page.wait_for_timeout(300)
    learner.find("#run select").select_option("4")
    before = len(learner.sent)
    learner.find("#run button.play").click()
    learner.page.wait_for_function("window.ticklab.tick >= 4")  # seconds before the end
    assert learner.sent[before:] == []
    learner.page.wait_for_function("window.ticklab.tick >= 18")
    learner.page.wait_for_timeout(300)
    assert len(learner.sent[before:]) <= 6  # the cursor, once, when it has come to the end


def test_a_step_sends_only_the_new_tick(learner: Learner) -> None:
    learner.predict()
    sizes = []
    for _ in range(8):
        before = sum(map(len, learner.received))
        learner.step()
        sizes.append(sum(map(len, learner.received)) - before)
    assert max(sizes[2:]) < 2 * min(sizes[2:])


def test_a_step_is_one_message(learner: Learner) -> None:
    """The tick that was asked for is the tick that is shown: the browser has nothing to report back."""
    learner.predict()
    learner.step()
    before = len(learner.sent)
    for _ in range(3):
        learner.step()
    learner.page.wait_for_timeout(300)
    assert len(learner.sent) - before == 3 * 3  # a message is a header, metadata and content
    assert learner.tick() == learner.known() - 1
    learner.reload()
    learner.page.wait_for_function("window.ticklab.tick === 3")
