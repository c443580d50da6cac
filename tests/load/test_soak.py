"""Two hundred sessions come and go; nothing of them stays in the server."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.bench.learner import Learner
from tests.serving import ROOT, Answer, Serving

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc"),
]
WARM_UP = 50  # sessions after which the server has what it keeps for good: caches, recorded runs
SESSIONS = 200
AT_ONCE = 5
MARGIN = 20_000_000  # bytes: 150 sessions take eight times as much, and the allocator's heap settles late
OBJECTS = 1000  # Python objects that 150 sessions may leave; a single open page has more
PANELS_OWN = 1  # document that Panel makes when it starts
PATIENCE = 240.0  # seconds for one answer, and for closed sessions to be given up


@pytest.fixture
def short(tmp_path: Path) -> Iterator[Serving]:
    """A server that soon gives a session up after its browser is gone, and can be looked into.

    Not too soon: a page whose socket comes after its session was given up is built a second time.
    """
    server = Serving(tmp_path, PYTHONPATH=str(ROOT))
    server.options = ["--unused-session-lifetime", "10000", "--check-unused-sessions", "200"]
    server.options += ["--plugins", "tests.load.inspecting"]
    server.start()
    yield server
    server.stop(kill=True)  # it may be in the middle of a long collection
    assert server.faults() == [], server.log.read_text()


async def lesson(page: str, *, whole: bool) -> None:
    """One learner: to the first step or, on the ``whole``, to the verdict; then the browser is closed."""
    learner = Learner(page, patience=PATIENCE)
    await learner.join()
    await learner.read()
    await learner.lock(learner.answers("0.5"))
    await learner.run_step()
    if whole:
        await learner.run_to_end()
        await learner.observe()
    await learner.leave()


async def sessions(page: str, count: int) -> None:
    """So many come and go, ``AT_ONCE`` at a time; one of those sees it through."""
    for _ in range(count // AT_ONCE):
        await asyncio.gather(*(lesson(page, whole=place == 0) for place in range(AT_ONCE)))


def looked(server: Serving, query: str = "") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Answer(f"{server.url}/inspect{query}").body)
    return found


def left(server: Serving, *, tasks: list[str] | None = None) -> dict[str, Any]:
    """What the server holds once it has given all sessions up and, if given, runs exactly these ``tasks``."""
    give_up = time.monotonic() + PATIENCE
    while time.monotonic() < give_up:
        if looked(server)["sessions"] == 0:
            found = looked(server, "?deep")
            gone = found["session_objects"] == 0 and found["documents"] == PANELS_OWN
            if gone and tasks in (None, found["tasks"]):
                return found
        time.sleep(0.5)
    pytest.fail(f"sessions stay after their browsers left: {looked(server, '?deep')}")


def test_nothing_stays_of_two_hundred_sessions(short: Serving) -> None:
    before = left(short)
    asyncio.run(sessions(short.page, WARM_UP))
    warm = left(short, tasks=before["tasks"])
    found = []
    for _ in range(3):
        asyncio.run(sessions(short.page, (SESSIONS - WARM_UP) // 3))
        found.append(left(short, tasks=before["tasks"]))
    for one in (warm, *found):
        assert one["periodic"] == before["periodic"]
        assert one["panel_periodic"] == before["panel_periodic"] == 0
        assert one["components"] == before["components"]
        assert one["ours"] == {}
    print("memory", [one["memory"] for one in (before, warm, *found)])
    assert found[-1]["objects"] - warm["objects"] <= OBJECTS
    assert found[-1]["memory"] - warm["memory"] <= MARGIN


def test_what_lives_is_seen(short: Serving) -> None:
    """The look into the server does see a page while it is open."""

    async def look() -> dict[str, Any]:
        learner = Learner(short.page, patience=PATIENCE)
        await learner.join()
        found = await asyncio.to_thread(looked, short, "?deep")
        await learner.leave()
        return found

    found = asyncio.run(look())
    assert (found["sessions"], found["session_objects"], found["documents"]) == (1, 1, 1 + PANELS_OWN)
    assert found["ours"]["LearnPage"] == found["ours"]["Lesson"] == 1
    assert found["components"] > 10
    assert found["objects"] - left(short)["objects"] > OBJECTS
    assert left(short)["ours"] == {}
