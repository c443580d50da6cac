"""The bench: off the event loop, with an end to the queue."""

from __future__ import annotations

import asyncio
import threading

import pytest

from app.designing.bench import Bench, Busy


async def test_the_loop_goes_on_while_the_bench_works() -> None:
    bench, gate = Bench(), threading.Event()
    working = asyncio.create_task(bench.call(gate.wait))
    await asyncio.sleep(0)
    assert not working.done()
    gate.set()
    assert await working is True


async def test_who_comes_to_a_full_queue_is_told_and_the_others_are_served() -> None:
    bench, gate = Bench(most=2), threading.Event()
    first, second = (asyncio.create_task(bench.call(gate.wait)) for _ in range(2))
    await asyncio.sleep(0)
    with pytest.raises(Busy):
        await bench.call(gate.wait)
    gate.set()
    assert await asyncio.gather(first, second) == [True, True]
    assert await bench.call(lambda: 3) == 3


async def test_what_goes_wrong_is_told_and_gives_the_place_back() -> None:
    bench = Bench(most=1)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            await bench.call(lambda: 1 / 0)
