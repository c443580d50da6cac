"""The server's end of the pipe: one child process, one command at a time, a limit on every wait."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from pathlib import Path
from typing import Any, ClassVar

from app.journal import tell
from app.settings import Settings
from app.worker.errors import WorkerBusy, WorkerError, WorkerLost, WorkerRefused, WorkerTimeout
from app.worker.spec import (
    HEADER,
    Advance,
    Advanced,
    Compare,
    Compared,
    Failed,
    Ready,
    Refused,
    RunSpec,
    packed,
    replies,
)
from engine import Request

ROOT = Path(__file__).parents[2]
GRACE = 2.0  # seconds a process has to end by itself


class Worker:
    """The engine process. It is started with the first command and again after it was lost.

    Commands are served in the order they came. Every call may raise WorkerLost, WorkerTimeout,
    WorkerBusy or WorkerRefused; after each of them the next call works.
    """

    _module: ClassVar[str] = "app.worker.child"  # what the process runs
    _replies: ClassVar[Any] = replies  # decodes what it answers

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.process: asyncio.subprocess.Process | None = None
        self._loaded: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()
        self._waiting = 0
        self.starts = 0
        self._number = 0
        self._tasks: set[asyncio.Task[Any]] = set()

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.returncode is None

    @property
    def waiting(self) -> int:
        """Commands that wait or are being served."""
        return self._waiting

    @property
    def state(self) -> str:
        """``ready`` for commands, ``starting`` (loading torch), or ``absent``."""
        if not self.alive:
            return "absent"
        return "ready" if self._loaded is self.process else "starting"

    async def start(self) -> None:
        """Have the process loaded and ready. Nothing to do when it is."""
        async with self._turn:
            await self._ready()

    async def advance(self, spec: RunSpec, start: int, upto: int) -> Advanced:
        """The records ``start`` … ``upto`` of the run (fewer when it ends), stepped where they are new."""
        reply = await self._answered(Advance(self._next(), spec, start, upto))
        assert isinstance(reply, Advanced)
        return reply

    async def compare(self, requests: tuple[Request, ...]) -> dict[str, Any]:
        """fp32, int8 and int4 side by side on these prompts, measured now; plain values."""
        reply = await self._answered(Compare(self._next(), requests))
        assert isinstance(reply, Compared)
        return reply.comparison

    async def close(self) -> None:
        """End the process, if there is one: its input ends, and then it ends; else it is killed."""
        process, self.process = self.process, None
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), GRACE)
        except TimeoutError:
            process.kill()
            await process.wait()

    def _kill(self) -> None:
        """A process that hangs does not see its input end."""
        if self.alive and self.process is not None:
            self.process.kill()

    # ---- one exchange ----------------------------------------------------------------------

    def _next(self) -> int:
        self._number += 1
        return self._number

    async def _answered(self, command: Any) -> Any:
        """The reply, or the error it stands for."""
        if self._waiting >= self.settings.queue:
            raise WorkerBusy(f"{self._waiting} commands wait for the engine already")
        reply = await self._shielded(command)
        if isinstance(reply, Refused):
            raise WorkerRefused(reply.texts)
        if isinstance(reply, Failed):
            raise WorkerError(reply.text)
        return reply

    async def _shielded(self, command: Any) -> Any:
        """Finish the exchange even when the asker goes away: the pipe must never be left half read."""
        self._waiting += 1  # at once: many may ask before the first task runs
        task = asyncio.create_task(self._ask(command))
        self._tasks.add(task)
        task.add_done_callback(self._forget)
        return await asyncio.shield(task)

    def _forget(self, task: asyncio.Task[Any]) -> None:
        """Its error was for whoever asked; when they are gone, it is nobody's."""
        self._waiting -= 1
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()

    async def _ask(self, command: Any) -> Any:
        async with self._turn:
            await self._ready()
            return await self._exchange(packed(command), self.settings.command_seconds)

    async def _exchange(self, message: bytes, seconds: float) -> Any:
        try:
            async with asyncio.timeout(seconds):
                await self._write(message)
                return await self._read()
        except TimeoutError as error:
            tell("engine.slow", logging.WARNING, seconds=f"{seconds:g}")
            self._kill()
            await self.close()
            raise WorkerTimeout(f"the engine gave no answer within {seconds:g} s") from error
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            tell("engine.lost", logging.WARNING)
            await self.close()
            raise WorkerLost("the engine process ended while it was asked") from error

    async def _write(self, message: bytes) -> None:
        assert self.process is not None
        assert self.process.stdin is not None
        if message:
            self.process.stdin.write(message)
            await self.process.stdin.drain()

    async def _read(self) -> Any:
        assert self.process is not None
        assert self.process.stdout is not None
        size = int.from_bytes(await self.process.stdout.readexactly(HEADER), "big")
        return self._replies.decode(await self.process.stdout.readexactly(size))

    async def _ready(self) -> None:
        if self.alive:
            return
        self.starts += 1
        self.process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", self._module),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=child_environment(),
        )
        reply = await self._exchange(b"", self.settings.start_seconds)
        assert isinstance(reply, Ready)
        self._loaded = self.process
        tell("engine.ready")


def child_environment() -> dict[str, str]:
    """Ours, with one thread for torch, and this very installation first on the path."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    return dict(os.environ, OMP_NUM_THREADS="1", PYTHONSAFEPATH="1", PYTHONPATH=path)
