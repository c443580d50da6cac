"""Where runs are computed: one thread beside the event loop, with an end to how many may wait for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

MOST = 80  # pages that may wait: a large class that presses Run at once


class Busy(RuntimeError):
    """So many wait already that nobody else may."""


class Bench:
    """Four runs take a quarter of a second; a class that comes together stands in a queue."""

    def __init__(self, most: int = MOST) -> None:
        self.most = most
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="design")
        self._waiting = 0

    async def call(
        self, work: Callable[Arguments, Result], *args: Arguments.args, **names: Arguments.kwargs
    ) -> Result:
        """``work`` off the event loop. Raises Busy when too many wait."""
        if self._waiting >= self.most:
            raise Busy
        self._waiting += 1
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._thread, lambda: work(*args, **names))
        finally:
            self._waiting -= 1


@cache
def bench() -> Bench:
    """The bench of this process."""
    return Bench()
