"""The server's end of the pipe to the process that plays."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncGenerator
from typing import Any, ClassVar

from app.play.spec import Answer, Drop, Go, Job, News, Unknown, replies
from app.settings import Settings
from app.worker.client import Worker
from app.worker.errors import WorkerError, WorkerLost, WorkerTimeout

SLICE = 0.15  # seconds a job is worked on before another has its turn
LONGEST = 60.0  # seconds worked for one job


class Bench(Worker):
    """The process is started with the first job. Jobs take turns; one that nobody awaits is dropped."""

    _module: ClassVar[str] = "app.play.child"
    _replies: ClassVar[Any] = replies

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._dropping: set[asyncio.Task[None]] = set()

    async def news(self, job: Job) -> AsyncGenerator[News, None]:
        """The news of ``job`` until it is done. Raises WorkerError, as all calls of a Worker."""
        key, spent, done = secrets.token_hex(8), 0.0, False
        rest: Job | None = job
        try:
            while spent <= LONGEST:
                reply = await self._answered(Go(self._next(), key, rest, SLICE))
                rest = None
                if isinstance(reply, Unknown):
                    raise WorkerLost("the process that played this was started again")
                assert isinstance(reply, Answer)
                if reply.news is None:
                    done = True
                    return
                spent += reply.spent
                yield reply.news
            raise WorkerTimeout(f"{LONGEST:g} s were not enough")
        finally:
            if not done and rest is None:
                self._drop_later(key)

    def _drop_later(self, key: str) -> None:
        """Whoever stops waiting does not wait for this either."""
        task = asyncio.ensure_future(self._drop(key))
        self._dropping.add(task)
        task.add_done_callback(self._dropping.discard)

    async def _drop(self, key: str) -> None:
        if self.alive:
            try:
                await self._answered(Drop(self._next(), key))
            except WorkerError:
                return  # it is gone with its process, or goes when others come
