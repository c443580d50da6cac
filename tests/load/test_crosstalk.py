"""Sixty learners at once, each with answers of its own: nobody sees, stores or receives another's."""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections.abc import Iterator
from contextlib import closing

import pytest

from app.bench.learner import Learner
from app.settings import Settings
from app.store import Place, Store, open_store
from app.web.identity import LEARNER
from tests.serving import Serving, serving

LEARNERS = 60
PATIENCE = 240.0  # seconds for one answer: sixty learners on a busy machine


class Marked:
    """A learner whose every answer and reason can be told from all others'."""

    def __init__(self, number: int, page: str, store: Store) -> None:
        self.number = number
        self.page = page
        self.store = store  # the server's, to look into
        self.figure = f"0.7{number:02}135"  # of no run: all of its times are in steps of a millisecond
        self.mark = f"mark-{number:02}-{random.Random(number).randbytes(6).hex()}"
        self.cookie = ""
        self.heard: list[str] = []

    def texts(self, learner: Learner) -> dict[str, str]:
        """The number in every number, the mark in the reason."""
        return learner.answers(self.figure) | {"why": f"because {self.mark}", "confidence": "3"}

    async def lesson(self, gate: asyncio.Semaphore) -> None:
        """Draft, reload, lock, reload, step, reload: in no order with the others."""
        for deeds in (("read", "draft"), ("draft", "lock"), ("step", "step"), ("step", "end")):
            async with gate:
                learner = Learner(self.page, self.cookie, patience=PATIENCE)
                await learner.join()
            self.cookie = learner.client.cookie
            self.heard.append(learner.client.html)
            for deed in deeds:
                await self._do(deed, learner)
            self.heard += learner.client.heard
            await learner.leave()
            if "draft" in deeds:
                await self._kept()

    async def _kept(self) -> None:
        """Wait until the server has kept what was typed last: a draft is not answered, as a lock is."""
        place = Place(self.id, "main", 1)
        async with asyncio.timeout(PATIENCE):
            while self.store.draft(place).why != f"because {self.mark}":
                await asyncio.sleep(0.05)

    async def _do(self, deed: str, learner: Learner) -> None:
        if deed == "read":
            await learner.read()
        elif deed == "draft":
            assert "draft" not in self.shown(learner) or self.mark in self.shown(learner)
            await learner.draft(self.texts(learner))
        elif deed == "lock":
            assert self.mark in self.shown(learner)
            await learner.lock(self.texts(learner))
        else:
            assert self.mark in self.shown(learner)
            await (learner.run_step() if deed == "step" else learner.run_to_end())

    def shown(self, learner: Learner) -> str:
        """What the form shows as typed."""
        return json.dumps(learner.shown("form", "draft") or {})

    @property
    def id(self) -> str:
        assert self.cookie.startswith(f"{LEARNER}=")
        return self.cookie.removeprefix(f"{LEARNER}=")


@pytest.fixture
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("crosstalk")) as server:
        yield server
        assert server.faults() == [], server.log.read_text()


@pytest.fixture
def crowd(own: Serving) -> list[Marked]:
    """All of them, after their lessons."""

    async def lessons() -> None:
        gate = asyncio.Semaphore(8)  # pages are built one after the other anyway
        await asyncio.gather(*(one.lesson(gate) for one in marked))

    with closing(open_store(Settings(data=own.folder / "data"))) as store:
        marked = [Marked(number, own.page, store) for number in range(LEARNERS)]
        asyncio.run(lessons())
    return marked


@pytest.mark.slow
def test_nobody_meets_anothers_answers(own: Serving, crowd: list[Marked]) -> None:
    assert len({one.id for one in crowd}) == LEARNERS
    for one in crowd:
        wire = "\n".join(one.heard)
        numbers = set(re.findall(r"\d+\.\d+", wire))  # whole ones: a measured time may hold any digits
        assert one.mark in wire
        assert one.figure in numbers
        strangers = [other for other in crowd if other is not one]
        assert [other.mark for other in strangers if other.mark in wire] == []
        assert [other.figure for other in strangers if other.figure in numbers] == []
        assert [other.id for other in strangers if other.id in wire] == []
    store = open_store(Settings(data=own.folder / "data"))
    try:
        assert len(store.predictions()) == LEARNERS
        for one in crowd:
            place = Place(one.id, "main", 1)
            prediction, draft, progress = store.prediction(place), store.draft(place), store.progress(place)
            assert prediction is not None
            answered = {value for value in prediction.answers.values() if isinstance(value, float)}
            assert answered == {float(one.figure)}
            assert prediction.why == draft.why == f"because {one.mark}"
            assert progress.step == "observe"
    finally:
        store.close()
