"""One visitor: the last thing asked for counts, and stopping is at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from app.play.sheet import sheet_of
from app.play.state import Play
from app.server import Server
from app.settings import Settings
from app.store import ShareRefused, Shares
from app.worker import WorkerRefused
from engine import Service, simulate
from engine.traces import main_trace
from tests.play.sheets import endless, rows, setup, sheet
from tests.serving import PATIENCE

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Server]:
    folder: Path = tmp_path_factory.mktemp("play")
    made = Server(Settings(data=folder, command_seconds=PATIENCE))
    yield made
    await made.close()


@pytest.fixture
def play(server: Server) -> Play:
    return Play(server=server, language="en")


async def until(play: Play, *names: str, when: Any) -> None:
    """Wait until ``when()`` holds after a change of one of ``names``."""
    came = asyncio.Event()
    watcher = play.param.watch(lambda _: came.set() if when() else None, list(names))
    if not when():
        await asyncio.wait_for(came.wait(), PATIENCE)
    play.param.unwatch(watcher)


async def test_a_run_comes_to_its_end(play: Play) -> None:
    await play.play(sheet())
    assert play.state == "done"
    assert play.figures is not None
    assert play.figures.known == 19
    assert "decode_order" in play.switches["dead"]


async def test_nothing_to_run_is_said(play: Play) -> None:
    await play.play(sheet())
    await play.play(sheet(""))
    assert (play.state, play.figures, play.switches) == ("nothing", None, {})


async def test_a_stop_acts_while_the_run_goes_on(play: Play) -> None:
    running = asyncio.create_task(play.play(endless()))
    await until(play, "tick", when=lambda: play.tick > 0)
    play.stop()
    assert play.state == "stopped"  # at once, not when the process answers
    reached = play.tick
    assert 0 < reached < 1_000_000
    await asyncio.wait_for(running, PATIENCE)
    assert (play.state, play.tick, play.figures) == ("stopped", reached, None)


async def test_after_a_stop_the_next_run_is_a_fresh_one(play: Play, server: Server) -> None:
    running = asyncio.create_task(play.play(endless()))
    await until(play, "tick", when=lambda: play.tick > 0)
    play.stop()
    await play.play(sheet())
    await asyncio.wait_for(running, PATIENCE)
    fresh = Play(server=server, language="en")
    await fresh.play(sheet())
    assert play.figures == fresh.figures
    assert play.switches == fresh.switches
    assert play.state == "done"


async def test_the_last_run_asked_for_is_the_one_shown(play: Play) -> None:
    first = asyncio.create_task(play.play(endless()))
    await until(play, "tick", when=lambda: play.tick > 0)
    await play.play(sheet())
    await asyncio.wait_for(first, PATIENCE)
    assert play.state == "done"
    assert play.figures is not None
    assert play.figures.known == 19


async def test_what_is_wrong_is_raised_and_nothing_is_shown(play: Play) -> None:
    await play.play(sheet())
    with pytest.raises(WorkerRefused, match="tick: 0"):
        await play.play(sheet(tick="0"))
    assert (play.state, play.figures) == ("idle", None)
    assert await play.file("csv") is None


async def test_files_are_of_what_was_run(play: Play) -> None:
    assert await play.file("csv") is None
    await play.play(sheet(name="x.csv"))
    made = await play.file("json")
    assert made is not None
    assert made.name == "ticklab-x.json"


async def test_a_trace_is_looked_at_without_a_run(play: Play) -> None:
    assert "4 requests" in await play.look(sheet())
    assert await play.look(sheet("")) == ""
    assert play.state == "idle"


# ---- the torch engine --------------------------------------------------------------------------------


async def test_the_engine_runs_what_the_ledger_says(play: Play, server: Server) -> None:
    await play.play(sheet(of={"engine": "fp32"}))
    assert play.state == "done"
    assert play.figures is not None
    assert play.figures.page["spoken"] == ["immediate", "static", "continuous"]
    ledger = Play(server=server, language="en")
    await ledger.play(sheet())
    assert ledger.figures is not None
    assert (play.figures.html, play.figures.details) == (ledger.figures.html, ledger.figures.details)
    made = await play.file("json")
    assert made is not None
    assert '"ms":' in made.text


async def test_a_generation_of_two_thousand_tokens_is_stopped(play: Play) -> None:
    trace = rows((f"R{n}", 0, 8, 500) for n in range(4))
    long = sheet(trace, pages="512", of={"engine": "fp32", "mode": "compare"})
    running = asyncio.create_task(play.play(long))
    await until(play, "tick", when=lambda: play.tick >= 16)
    play.stop()
    assert (play.state, play.figures) == ("stopped", None)
    reached = play.tick
    await asyncio.wait_for(running, PATIENCE)
    assert play.tick == reached < 667
    await play.play(sheet(of={"engine": "fp32", "mode": "compare"}))
    assert play.figures is not None
    assert play.figures.known == len(simulate(main_trace(), Service()).records)


async def test_the_engine_stops_at_a_horizon(play: Play) -> None:
    await play.play(sheet(of={"engine": "int8", "mode": "compare", "horizon": "0.5"}))
    assert play.figures is not None
    assert play.figures.known == 5


async def test_a_prompt_longer_than_the_context_is_refused_by_the_engine(play: Play) -> None:
    trace = rows([("R01", 0, 600, 4), ("R02", 0, 6, 2)])
    await play.play(sheet(trace, pages="512", of={"engine": "fp32", "mode": "compare"}))
    assert play.figures is not None
    assert "B, R01: Refused: prompt and output are 604 tokens" in play.figures.html


# ---- short links ---------------------------------------------------------------------------------------


async def test_a_link_brings_the_same_sheet(play: Play, server: Server) -> None:
    one = sheet(tick="1.0", title="慢", of={"kept": setup(), "mode": "compare"})
    code = await play.share(one)
    assert await play.share(one) == code
    assert sheet_of(Shares(server.store).find(code) or "") == one
    assert await play.share(sheet()) != code


async def test_a_long_trace_gets_no_link(play: Play) -> None:
    with pytest.raises(ShareRefused, match="too_long"):
        await play.share(sheet("x" * 100_001))
