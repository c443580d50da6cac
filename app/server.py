"""What one server process has exactly once: its settings, its store, its engine worker, its recorded runs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from app.settings import Settings, read_settings
from app.store import Store, open_store
from app.worker import Runs, Worker, WorkerError

if TYPE_CHECKING:
    from app.state.following import Following

log = logging.getLogger(__name__)

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class Server:
    """Built once per process, by ``server()``; sessions share it and keep nothing of their own in it."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.store: Store = open_store(settings)
        self.worker = Worker(settings)
        self.runs = Runs(self.worker)
        self.following: Following | None = None  # only where there is a class: see app.classroom
        self._writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="store")

    async def stored(
        self, call: Callable[Arguments, Result], *args: Arguments.args, **names: Arguments.kwargs
    ) -> Result:
        """``call``, a call of the store, off the event loop. One writer: no lock to wait for."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._writer, lambda: call(*args, **names))

    async def warm_up(self) -> None:
        """Let the worker load torch before anybody waits for it. When it cannot, the first run says so."""
        try:
            await self.worker.start()
        except WorkerError as error:
            log.warning("the engine could not be started: %r", error)

    async def close(self) -> None:
        """End the worker and give the database back."""
        await self.worker.close()
        self._writer.shutdown()
        self.store.close()


@cache
def server() -> Server:
    """The Server of this process, made on first use."""
    return Server(read_settings())
