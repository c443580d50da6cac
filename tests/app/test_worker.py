"""The engine process: real ticks, shared recordings, and what happens when it dies, hangs or refuses."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from app.settings import Settings
from app.worker import Runs, RunSpec, Worker, WorkerBusy, WorkerLost, WorkerRefused, WorkerTimeout
from app.worker.client import child_environment
from engine import Request, Service, simulate
from engine.traces import main_trace
from tests.serving import PATIENCE, is_alive

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]
TRACE = tuple(main_trace())


def spec(weights: str = "fp32", **service: object) -> RunSpec:
    return RunSpec(Service(**service), TRACE, weights)


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def worker() -> AsyncIterator[Worker]:
    started = Worker(Settings(data=Path("unused"), command_seconds=PATIENCE))
    await started.start()
    yield started
    await started.close()


@pytest.fixture
def runs(worker: Worker) -> Runs:
    return Runs(worker)


@pytest.mark.parametrize("policy", ["immediate", "static", "continuous"])
async def test_the_engine_runs_what_the_ledger_says(runs: Runs, policy: str) -> None:
    recording = await runs.to_end(spec(policy=policy))
    expected = simulate(TRACE, Service(policy=policy))
    assert recording.done
    assert recording.history().comparable() == expected.comparable()
    assert all(record.work is not None for record in recording.records if record.emitted)
    assert recording.history().metrics() == expected.metrics()


@pytest.mark.parametrize("weights", ["int8", "int4"])
async def test_quantized_weights_run_the_same_engine(runs: Runs, weights: str) -> None:
    recording = await runs.to_end(spec(weights))
    assert recording.history().comparable() == simulate(TRACE, Service()).comparable()


async def test_step_by_step_is_the_same_run(runs: Runs) -> None:
    one_by_one = [await runs.upto(spec(), tick) for tick in range(15)]
    assert [len(records) for records in one_by_one] == [min(tick + 1, 12) for tick in range(15)]
    whole = await Runs(runs.worker).to_end(spec())
    assert [r.without_work() for r in one_by_one[-1]] == [r.without_work() for r in whole.records]


async def test_a_tick_is_run_once_for_all(runs: Runs) -> None:
    asked: list[tuple[int, int]] = []
    advance = runs.worker.advance

    async def counted(spec: RunSpec, start: int, upto: int):
        asked.append((start, upto))
        return await advance(spec, start, upto)

    runs.worker.advance = counted  # type: ignore[method-assign]
    try:
        found = await asyncio.gather(*(runs.upto(spec(policy="static"), 3) for _ in range(40)))
    finally:
        del runs.worker.advance
    assert asked == [(0, 3)]
    assert all(records == found[0] for records in found)


async def test_different_settings_are_different_runs() -> None:
    keys = [spec().key, spec(policy="static").key, spec("int8").key, spec(tick="1.0").key]
    assert len(set(keys)) == 4
    assert spec().key == spec(tick="0.1").key
    assert RunSpec(Service(), TRACE[:3]).key != spec().key


async def test_torch_stays_out_of_this_process(runs: Runs) -> None:
    """Asked of a fresh interpreter, because other tests of this process may have imported torch."""
    script = (
        "import asyncio, sys; from pathlib import Path; from app.settings import Settings;"
        "from app.worker import *; from engine import Service; from engine.traces import main_trace\n"
        "async def main():\n"
        "    worker = Worker(Settings(data=Path('unused')))\n"
        "    recording = await Runs(worker).to_end(RunSpec(Service(), tuple(main_trace())))\n"
        "    print(len(recording.records), 'torch' in sys.modules)\n"
        "    await worker.close()\n"
        "asyncio.run(main())"
    )
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", script, stdout=-1)
    out, _ = await process.communicate()
    assert out.split() == [b"12", b"False"]


async def test_killed_in_the_middle_gives_an_error_and_the_next_run_works(runs: Runs, worker: Worker) -> None:
    assert worker.process is not None
    worker.process.send_signal(signal.SIGSTOP)
    asked = asyncio.create_task(runs.upto(spec(policy="static"), 5))
    await asyncio.sleep(0.05)
    worker.process.kill()
    with pytest.raises(WorkerLost):
        await asked
    assert runs.recording(spec(policy="static")).records == []
    assert len(await runs.upto(spec(policy="static"), 5)) == 6


async def test_killed_between_two_steps(runs: Runs, worker: Worker) -> None:
    first = await runs.upto(spec(), 2)
    assert worker.process is not None
    os.kill(worker.process.pid, signal.SIGKILL)
    try:
        again = await runs.upto(spec(), 4)
    except WorkerLost:
        again = await runs.upto(spec(), 4)
    assert again[:3] == first
    expected = simulate(TRACE, Service()).comparable()[:5]
    assert [record.without_tokens() for record in again] == expected


async def test_a_worker_that_hangs_is_ended(runs: Runs, worker: Worker) -> None:
    impatient = Worker(Settings(data=Path("unused"), command_seconds=0.3))
    await impatient.start()
    assert impatient.process is not None
    impatient.process.send_signal(signal.SIGSTOP)
    with pytest.raises(WorkerTimeout):
        await Runs(impatient).upto(spec(), 0)
    assert not impatient.alive
    await impatient.close()


async def test_too_many_at_once_are_turned_away(worker: Worker) -> None:
    narrow = Worker(Settings(data=Path("unused"), queue=0))
    with pytest.raises(WorkerBusy):
        await Runs(narrow).upto(spec(), 0)


async def test_a_run_that_cannot_go_on_is_refused_and_others_go_on(runs: Runs) -> None:
    nameless = RunSpec(Service(), (Request("R01", "0", 3, 2),))
    with pytest.raises(WorkerRefused, match="prompt") as refused:
        await runs.to_end(nameless)
    assert refused.value.told("zh") == "prompt：内容为空，至少需要一个字节。"
    assert (await runs.to_end(spec())).done


async def test_formats_are_compared_once_on_the_prompts_of_the_trace(runs: Runs) -> None:
    first, second = await asyncio.gather(runs.comparison(TRACE), runs.comparison(TRACE))
    assert first is second
    assert [result["format"] for result in first["formats"]] == ["fp32", "int8", "int4"]
    assert [prompt["id"] for prompt in first["prompts"]] == [request.id for request in TRACE]


async def test_an_asker_who_leaves_does_not_spoil_the_pipe(runs: Runs) -> None:
    gone = asyncio.create_task(runs.upto(spec(decode_slots=2), 10))
    await asyncio.sleep(0)
    gone.cancel()
    with pytest.raises(asyncio.CancelledError):
        await gone
    assert len(await runs.upto(spec(decode_slots=1), 3)) == 4


async def test_it_ends_with_the_server() -> None:
    script = (
        "import asyncio; from pathlib import Path; from app.settings import Settings\n"
        "from app.worker import *\n"
        "async def main():\n"
        "    worker = Worker(Settings(data=Path('unused')))\n"
        "    await worker.start(); print(worker.process.pid, flush=True)\n"
        "    await asyncio.sleep(600)\n"
        "asyncio.run(main())"
    )
    server = await asyncio.create_subprocess_exec(sys.executable, "-c", script, stdout=-1)
    child = int(await server.stdout.readline())
    server.kill()
    await server.wait()
    async with asyncio.timeout(PATIENCE):
        while is_alive(child):
            await asyncio.sleep(0.05)


async def test_a_server_that_is_gone_before_the_worker_is_ready_is_no_error() -> None:
    nobody, answers = os.pipe()
    os.close(nobody)
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "app.worker.child", stdin=-1, stdout=answers, stderr=-1, env=child_environment()
    )
    os.close(answers)
    _, said = await child.communicate()
    assert (child.returncode, said) == (0, b"")
