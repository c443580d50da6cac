"""Whose turn it is at the engine: nobody waits for the whole of another's run, and nobody for ever."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from app.server import Server
from app.settings import Settings
from app.state import Lesson
from app.words import app_words
from app.worker import Runs, RunSpec, Worker, WorkerBusy, WorkerLost, WorkerRefused
from app.worker import runs as recorded
from app.worker.runs import CHUNK
from app.worker.spec import Advanced
from engine import Request, Service, simulate
from engine.traces import main_trace
from puzzles import fields, load, runs
from tests.serving import PATIENCE

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]
TRACE = tuple(main_trace())
LEARNERS = 40


def long(name: str) -> RunSpec:
    """A run of some 450 ticks: seven chunks."""
    return RunSpec(Service(pages=None), (Request(name, "0", 18, 450, prompt="To be, or not to b"),))


def short(slots: int) -> RunSpec:
    return RunSpec(Service(decode_slots=slots), TRACE)


class Watched(Worker):
    """The worker with a list of whose commands it has served, in order."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.served: list[str] = []
        self.came = asyncio.Condition()

    async def advance(self, spec: RunSpec, start: int, upto: int) -> Advanced:
        reply = await super().advance(spec, start, upto)
        async with self.came:
            self.served.append(spec.requests[0].id)
            self.came.notify_all()
        return reply

    async def until(self, count: int) -> None:
        async with self.came:
            await self.came.wait_for(lambda: len(self.served) >= count)


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def process() -> AsyncIterator[Watched]:
    started = Watched(Settings(data=Path("unused"), command_seconds=PATIENCE))
    await started.start()
    yield started
    await started.close()


@pytest.fixture
def worker(process: Watched) -> Watched:
    process.served.clear()
    return process


async def test_a_step_waits_for_one_chunk_of_a_long_run(worker: Watched) -> None:
    shared = Runs(worker)
    greedy = asyncio.create_task(shared.to_end(long("long")))
    await worker.until(1)
    asked = len(worker.served)
    await shared.upto(short(2), 0)
    assert "R01" in worker.served[: asked + 2]
    assert not greedy.done()
    recording = await greedy
    assert worker.served.count("long") >= 450 // CHUNK
    assert len(recording.records) == len(simulate(recording.spec.requests, recording.spec.service).records)


async def test_a_step_waits_for_one_chunk_of_one_learner_with_many_runs(worker: Watched) -> None:
    shared = Runs(worker)
    greedy = asyncio.create_task(shared.all_first([long(f"long {number}") for number in range(4)], None))
    await worker.until(1)
    asked = len(worker.served)
    await shared.all_first([short(1), short(2)], 1)
    assert [name for name in worker.served[: asked + 4] if name == "R01"] == ["R01", "R01"]
    assert not greedy.done()
    assert all(recording.done for recording in await greedy)


async def test_a_step_of_the_very_run_waits_for_one_chunk_of_it(worker: Watched) -> None:
    shared = Runs(worker)
    greedy = asyncio.create_task(shared.to_end(long("shared")))
    await asyncio.sleep(0)  # its first chunk is asked for
    assert len(await shared.upto(long("shared"), 0)) == 1
    assert len(worker.served) <= 2
    assert not greedy.done()
    assert (await greedy).done


async def test_the_engine_goes_round_all_who_run_long(worker: Watched) -> None:
    shared = Runs(worker)
    await asyncio.gather(*(shared.to_end(long(name)) for name in "abc"))
    rounds = [worker.served[place : place + 3] for place in range(0, len(worker.served), 3)]
    assert len(rounds) > 5
    assert all(sorted(one) == ["a", "b", "c"] for one in rounds)


async def test_a_class_at_variants_of_their_own_is_served(worker: Watched) -> None:
    """Forty learners with seven runs each step at the same moment: nobody is turned away."""
    shared = Runs(worker)
    lessons = [
        [RunSpec(run.service, run.requests, run.weights) for run in runs(load("main").variant(seed))]
        for seed in range(1, LEARNERS + 1)
    ]
    found = await asyncio.gather(*(shared.all_first(specs, 1) for specs in lessons))
    assert all(len(recording.records) == 1 for learner in found for recording in learner)
    again = await asyncio.gather(*(shared.all_first(specs, 2) for specs in lessons))
    assert all(a is b for one, two in zip(found, again, strict=True) for a, b in zip(one, two, strict=True))


async def test_forty_learners_at_the_same_tick_cost_one_engine_step(worker: Watched, tmp_path: Path) -> None:
    server = Server(Settings(data=tmp_path))
    server.runs = Runs(worker)
    given = {
        field.key: "static" if field.choices else "1" for field in fields(load("main")) if field.required
    }
    lessons = [Lesson(server=server, learner=f"{number:032x}") for number in range(LEARNERS)]
    for one in lessons:
        assert await one.lock(given) == {}
    histories = await asyncio.gather(*(one.run_step() for one in lessons))
    assert len(worker.served) == len(lessons[0].specs)
    assert all(found.keys() == histories[0].keys() for found in histories)
    for name, history in histories[0].items():
        assert all(found[name].records[0] is history.records[0] for found in histories)
    await server.close()


async def test_too_many_are_turned_away_with_words_and_the_others_served() -> None:
    narrow = Worker(Settings(data=Path("unused"), queue=2))
    shared = Runs(narrow)
    asked = (shared.upto(short(slots), 0) for slots in (1, 2, 3, 4))
    found = await asyncio.gather(*asked, return_exceptions=True)
    assert [isinstance(one, WorkerBusy) for one in found] == [False, False, True, True]
    assert [len(one) for one in found[:2] if isinstance(one, list)] == [1, 1]
    assert len(await shared.upto(short(3), 0)) == 1  # there is room again
    await narrow.close()
    for language in ("en", "zh"):
        assert app_words(language)(f"run.error.{WorkerBusy.code}", text="")


async def test_a_crash_is_told_to_whoever_was_served_and_the_others_get_their_runs(worker: Watched) -> None:
    shared = Runs(worker)
    assert worker.process is not None
    worker.process.send_signal(signal.SIGSTOP)
    specs = [short(1), short(1), short(1), short(2), short(3)]
    asked = [asyncio.create_task(shared.upto(spec, 2)) for spec in specs]
    while worker._waiting < 3:  # three runs are asked for; two learners share one of them
        await asyncio.sleep(0)
    worker.process.kill()
    found = await asyncio.gather(*asked, return_exceptions=True)
    assert [type(one) for one in found] == [WorkerLost, list, list, list, list]
    for spec, records in list(zip(specs, found, strict=True))[1:]:
        assert isinstance(records, list)
        expected = simulate(spec.requests, spec.service).comparable()[:3]
        assert [record.without_tokens() for record in records] == expected


async def test_a_run_that_takes_too_much_of_the_engine_is_stopped(
    worker: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = Runs(worker)
    monkeypatch.setattr(recorded, "RUN_SECONDS", 0.0)
    with pytest.raises(WorkerRefused, match="more than 0 s") as refused:
        await shared.to_end(long("slow"))
    assert refused.value.told("zh") == "占用引擎的时间超过 0 秒。"
    assert worker.served == ["slow"]
    monkeypatch.undo()
    assert (await shared.to_end(long("slow"))).done


async def test_a_run_without_an_end_is_refused(worker: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorded, "LONGEST", 100)
    shared = Runs(worker)
    with pytest.raises(WorkerRefused, match="not ended after 100 ticks") as refused:
        await shared.to_end(long("endless"))
    assert refused.value.told("zh") == "100 个 tick 之后仍未结束。"
    assert len(shared.recording(long("endless")).records) == 100
