"""The process that plays: side by side, stopped at once, lost and found again (C05)."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from app.play import bench as benches
from app.play.bench import Bench
from app.play.jobs import work
from app.play.spec import Figures, Going, Job, Switches
from app.settings import Settings
from app.worker import WorkerError, WorkerLost, WorkerRefused, WorkerTimeout
from tests.play.sheets import endless, only, sheet, ticks
from tests.serving import PATIENCE

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def bench() -> AsyncIterator[Bench]:
    started = Bench(Settings(data=Path("unused"), command_seconds=PATIENCE))
    yield started
    await started.close()


async def heard(bench: Bench, job: Job) -> list[object]:
    return [news async for news in bench.news(job)]


async def test_the_process_finds_what_is_found_here(bench: Bench) -> None:
    job = Job("play", sheet(), "en")
    there, here = await heard(bench, job), list(work(job))
    for kind in (Figures, Switches):
        assert only(kind, there) == only(kind, here)


async def test_a_wrong_sheet_is_refused_and_the_next_job_works(bench: Bench) -> None:
    with pytest.raises(WorkerRefused, match="tick: 0 is not above 0"):
        await heard(bench, Job("play", sheet(tick="0"), "en"))
    assert only(Figures, await heard(bench, Job("play", sheet(), "en"))).known == 19


async def test_a_short_run_does_not_wait_for_a_long_one(bench: Bench) -> None:
    long = bench.news(Job("play", endless(), "en"))
    first = await anext(long)
    assert isinstance(first, Going)
    assert only(Figures, await heard(bench, Job("play", sheet(), "en"))).known == 19
    later = await anext(long)
    assert isinstance(later, Going)
    assert first.tick < later.tick < 1_000_000
    await long.aclose()


async def test_a_run_that_is_stopped_is_dropped_and_the_next_is_as_fresh(bench: Bench) -> None:
    job = Job("play", endless(), "en")
    stopped = bench.news(job)
    async for news in stopped:
        if isinstance(news, Going) and news.tick > 2_000:
            break
    await stopped.aclose()
    again = bench.news(job)
    assert (await anext(again)).tick < 1_000_000
    await again.aclose()
    assert only(Figures, await heard(bench, Job("play", sheet(), "en"))) == only(
        Figures, work(Job("play", sheet(), "en"))
    )
    await asyncio.gather(*bench._dropping)
    assert not bench._dropping


async def test_many_play_side_by_side(bench: Bench) -> None:
    jobs = [Job("play", sheet(ticks(count), pages="none"), "en") for count in range(5, 25)]
    found = await asyncio.gather(*(heard(bench, job) for job in jobs))
    assert [only(Figures, news).known for news in found] == list(range(5, 25))


async def test_no_run_goes_on_for_ever(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benches, "LONGEST", 0.3)
    with pytest.raises(WorkerTimeout):
        await heard(bench, Job("play", endless(), "en"))


async def test_a_process_that_is_killed_is_started_again(bench: Bench) -> None:
    long = bench.news(Job("play", endless(), "en"))
    await anext(long)
    assert bench.process is not None
    os.kill(bench.process.pid, signal.SIGKILL)
    with pytest.raises(WorkerError):
        async for _ in long:
            pass
    assert only(Figures, await heard(bench, Job("play", sheet(), "en"))).known == 19


async def test_a_job_of_a_process_that_is_gone_is_lost() -> None:
    bench = Bench(Settings(data=Path("unused"), command_seconds=PATIENCE))
    long = bench.news(Job("play", endless(), "en"))
    await anext(long)
    await bench.close()
    with pytest.raises(WorkerLost):
        await anext(long)
    await bench.close()
