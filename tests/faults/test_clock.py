"""The clock of the server jumps: nothing is lost, the locks keep their order, and the way in stays open."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tornado.websocket import websocket_connect

from app.settings import Settings
from app.store import Place, Progress, Store, open_store
from tests.app.socket_client import TOKEN
from tests.classroom.running import ClassServing, Visitor
from tests.databases import both
from tests.faults.learners import LOCKED, Learner
from tests.prepare import turnable_clock

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
JUMPS = [timedelta(0), timedelta(days=400), timedelta(days=-400), timedelta(hours=-1)]


@both
def test_the_order_is_that_of_the_locks_not_of_the_clock(settings: Settings) -> None:
    now = [NOON]
    opened = open_store(settings)
    store = Store(opened.engine, clock=lambda: now[0])
    school = store.classes.start()
    for number, jump in enumerate(JUMPS):
        now[0] = NOON + jump
        place = Place(f"{number:032x}", "main", 1)
        store.lock(place, {"x": number}, confidence=None, why="")
        store.save_progress(place, Progress("run"))
        store.classes.decide(school.id, "reading", number % 2 == 0)
    assert [one.answers["x"] for one in store.predictions()] == [0, 1, 2, 3]
    assert [one.locked - NOON for one in store.predictions()] == JUMPS
    decided = store.classes.decided(school.id, since=NOON - timedelta(days=500))
    assert decided.of("")["reading"] is False
    assert store.first_attempts()["main"] == {"run": 4}
    opened.close()


@both
def test_a_lock_may_be_repeated_and_progress_goes_on_in_the_past(settings: Settings) -> None:
    now = [NOON]
    opened = open_store(settings)
    store = Store(opened.engine, clock=lambda: now[0])
    place = Place("a" * 32, "main", 1)
    first = store.lock(place, {"x": 1}, confidence=None, why="")
    store.save_progress(place, Progress("run", 3, 4))
    now[0] = NOON - timedelta(days=30)
    assert store.lock(place, {"x": 2}, confidence=None, why="") == first
    assert store.save_progress(place, Progress("observe", 5, 6)) == Progress("observe", 5, 6)
    assert store.progress(place) == Progress("observe", 5, 6)
    opened.close()


# ---- a served class ------------------------------------------------------------------------------------


class Clocked(ClassServing):
    """A class whose clock can be turned while it runs; its time-outs go by another clock, as on a laptop."""

    def __init__(self, folder: Path) -> None:
        library = turnable_clock()
        assert library, "these tests need libfaketime: python -m tests.prepare installs it"
        self.clock = folder / "clock"
        self.turn("+0")
        environment = {"LD_PRELOAD": str(library), "FAKETIME_TIMESTAMP_FILE": str(self.clock)}
        super().__init__(folder, **environment, FAKETIME_NO_CACHE="1", DONT_FAKE_MONOTONIC="1")
        self.options = ["--join-code", "Room7"]

    def turn(self, offset: str) -> None:
        """Let it be that much later (``+3d``) or earlier from now on."""
        draft = self.clock.with_suffix(".new")
        draft.write_text(f"{offset}\n")
        os.replace(draft, self.clock)


@pytest.fixture
def clocked(tmp_path: Path) -> Iterator[Clocked]:
    server = Clocked(tmp_path)
    server.start()
    yield server
    server.stop()


def cookies(visitor: Visitor) -> str:
    return "; ".join(f"{cookie.name}={cookie.value}" for cookie in visitor.jar)


async def opens(server: Clocked, html: str) -> bool:
    """Whether the page ``html`` may still open its websocket: its token has a last day."""
    token = TOKEN.search(html)
    assert token is not None
    address = server.page.replace("http://", "ws://") + "/ws"
    socket = await websocket_connect(address, subprotocols=["bokeh", token[1]])
    greeted = await socket.read_message() is not None
    socket.close()
    while greeted and await socket.read_message() is not None:  # hear it end; of an end nothing follows
        pass
    return greeted


async def test_a_class_whose_clock_jumps(clocked: Clocked) -> None:
    """Two days on, back before the start, two months on: a lock in each, an old page only while it may."""
    visitor = Visitor(clocked.url)
    assert visitor.get("/?code=room7").status == 200
    inside = cookies(visitor)
    async with Learner(clocked.page, inside) as learner:
        await learner.read()
        await learner.lock(static__R02__ttft=61.5)
        await learner.hear(LOCKED)
        clocked.turn("+2d")
        await learner.step()  # an open page stays open
        await learner.hear('"attr":"known"')
        old = learner.html
    assert not await opens(clocked, old)
    for offset, answer in (("+2d", 62.5), ("-1d", 63.5)):
        clocked.turn(offset)
        async with Learner(clocked.page, inside) as again:
            assert again.form()["locked"]
        await lock_as_another(clocked, visitor, answer)
    clocked.turn("+60d")
    assert visitor.get("/app").url == f"{clocked.url}/"  # the way in: the code is asked for again
    assert visitor.get("/?code=room7").status == 200
    async with Learner(clocked.page, cookies(visitor)) as back:
        assert back.form()["locked"]
    store = clocked.store()
    assert [one.answers["static.R02.ttft"] for one in store.predictions()] == [61.5, 62.5, 63.5]
    times = [one.locked for one in store.predictions()]
    store.close()
    assert times[0] < times[1] > times[2] < times[0]
    assert clocked.faults() == [], clocked.log.read_text()


async def lock_as_another(clocked: Clocked, visitor: Visitor, answer: float) -> None:
    other = Visitor(clocked.url)
    assert other.get("/?code=room7").status == 200
    async with Learner(clocked.page, cookies(other)) as learner:
        await learner.read()
        learner.heard.clear()
        await learner.lock(static__R02__ttft=answer)
        await learner.hear(LOCKED)
