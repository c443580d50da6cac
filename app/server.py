"""What one server process has exactly once: its settings, its store, its engine worker, its recorded runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from sqlalchemy.exc import SQLAlchemyError

from app.counts import Counts
from app.journal import Trouble, place_of, tell
from app.play.bench import Bench
from app.settings import Settings, settings
from app.store import Store, StoreError, open_store, store_error
from app.worker import Runs, Worker, WorkerError

if TYPE_CHECKING:
    from app.state.following import Following

READERS = 2  # threads that only read

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class Server:
    """Built once per process, by ``server()``; sessions share it and keep nothing of their own in it."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.store: Store = open_store(settings)
        self.worker = Worker(settings)
        self.runs = Runs(self.worker)
        self.trouble = Trouble()
        self.counts = Counts()
        self.bench = Bench(settings)
        self.following: Following | None = None  # only where there is a class: see app.classroom
        self._writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="store")
        self._readers = ThreadPoolExecutor(max_workers=READERS, thread_name_prefix="reading")

    async def stored(
        self, call: Callable[Arguments, Result], *args: Arguments.args, **names: Arguments.kwargs
    ) -> Result:
        """``call``, a call of the store, off the event loop. One writer: no lock to wait for.

        When it returns, what was written is on the disk. Raises StoreError: then nothing was written.
        """
        return await self._in(self._writer, call, *args, **names)

    async def looked_up(
        self, call: Callable[Arguments, Result], *args: Arguments.args, **names: Arguments.kwargs
    ) -> Result:
        """``call``, which only reads, off the event loop: it waits for no writer, not even for one that is
        stuck at a locked database. Raises StoreError."""
        return await self._in(self._readers, call, *args, **names)

    async def _in(
        self,
        threads: ThreadPoolExecutor,
        call: Callable[Arguments, Result],
        *args: Arguments.args,
        **names: Arguments.kwargs,
    ) -> Result:
        loop = asyncio.get_running_loop()
        try:
            found = await loop.run_in_executor(threads, lambda: call(*args, **names))
        except (SQLAlchemyError, OSError) as error:
            raise self._failed(call, error) from error
        self._went_well(call)
        return found

    def read(
        self, call: Callable[Arguments, Result], *args: Arguments.args, **names: Arguments.kwargs
    ) -> Result:
        """``call``, which only reads, at once: for pages, which are built on the loop. Raises StoreError."""
        try:
            found = call(*args, **names)
        except (SQLAlchemyError, OSError) as error:
            raise self._failed(call, error) from error
        self._went_well(call)
        return found

    def _went_well(self, call: Callable[..., object]) -> None:
        self.trouble.went_well(call.__name__)
        self.counts.add(call.__name__)

    def _failed(self, call: Callable[..., object], error: Exception) -> StoreError:
        failure = store_error(error)
        self.trouble.failed(call.__name__, failure)
        self.counts.add("database_errors")
        return failure

    async def warm_up(self) -> None:
        """Let the worker load torch before anybody waits for it. When it cannot, the first run says so."""
        try:
            await self.worker.start()
        except WorkerError:
            tell("engine.absent")

    async def close(self) -> None:
        """End the worker and give the database back."""
        await self.worker.close()
        await self.bench.close()
        self._writer.shutdown()
        self._readers.shutdown()
        self.store.close()


_before = Trouble()  # of opening the store: until that has worked once there is no server to remember it


def server() -> Server:
    """The Server of this process, made on first use. Raises StoreError while its database cannot be had."""
    try:
        return _server()
    except StoreError as error:
        _before.failed("open_store", error)
        raise


@cache
def _server() -> Server:
    made = Server(settings())
    _before.went_well("open_store")
    tell("open", place=place_of(made.store.engine.url))
    return made
