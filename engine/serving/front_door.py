"""A front door for many threads: one background thread steps the engine while anybody is served."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import Any

from engine.errors import InputError
from engine.serving.engine import Engine
from engine.serving.handle import Handle


class FrontDoor:
    """Serves an engine in a thread of its own, until ``close`` (or the end of a ``with`` block).

    ``submit`` and ``cancel``, its own and the engine's, may be called from any thread. Iterating over a
    handle then waits for the serving thread instead of stepping the engine; inside a callback it raises
    RuntimeError, since the serving thread cannot wait for itself. An error of the engine itself ends the
    serving: ``error`` keeps it, it is raised to everybody who waits, and no more requests are taken.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.error: BaseException | None = None
        self._news = threading.Condition()  # a tick is over, or somebody has come or gone
        self._calls: list[Callable[[], object]] = []  # for readers in event loops
        self._closing = False
        self._thread = threading.Thread(target=self._serve, name="ticklab-engine", daemon=True)
        with engine.lock:
            if engine.door is not None:
                raise InputError.of("second_door")
            engine.door = self
            self._thread.start()

    def submit(self, prompt: Any, max_tokens: int, **options: Any) -> Handle:
        """As ``Engine.submit``; wakes the serving thread. Raises InputError once the door is closed, and
        RuntimeError when the engine has stopped by an error.
        """
        with self.engine.lock:
            if self._closing:
                raise InputError.of("door_closed")
            if self.error is not None:
                raise RuntimeError("the engine has stopped") from self.error
            return self.engine.submit(prompt, max_tokens, **options)

    def cancel(self, request_id: str) -> bool:
        """As ``Engine.cancel``."""
        return self.engine.cancel(request_id)

    def close(self) -> None:
        """Cancel who is still served, stop the thread, close the engine. May be called twice."""
        with self.engine.lock:
            self._closing = True
            for key in self.engine.live:
                self.engine.cancel(key)
        self.tell()
        if threading.current_thread() is not self._thread:
            self._thread.join()
        self.engine.door = None
        self.engine.close()

    def __enter__(self) -> FrontDoor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ---- for the engine ----------------------------------------------------------------

    def tell(self) -> None:
        """Wake whoever waits: somebody has come or gone, or a tick is over."""
        with self._news:
            self._news.notify_all()
            for call in self._calls:
                with suppress(RuntimeError):  # a loop that was closed with its reader hears nothing
                    call()

    def wait(self, handle: Handle, given: int) -> None:
        """Let a reader who has ``given`` tokens of ``handle`` wait until the serving thread has more."""
        self._refuse_the_serving_thread()
        with self._news:
            self._news.wait_for(lambda: self._has_more(handle, given))
        self._raise_to(handle)

    async def wait_in_loop(self, handle: Handle, given: int) -> None:
        """The same for a reader in an event loop, without a thread for each."""
        self._refuse_the_serving_thread()
        told = asyncio.Event()
        call = partial(asyncio.get_running_loop().call_soon_threadsafe, told.set)
        with self._news:
            self._calls.append(call)
        try:
            while not self._has_more(handle, given):
                await told.wait()
                told.clear()
        finally:
            with self._news:
                self._calls.remove(call)
        self._raise_to(handle)

    def _refuse_the_serving_thread(self) -> None:
        if threading.current_thread() is self._thread:
            raise RuntimeError("a callback cannot wait for tokens: the thread that serves them is its own")

    def _has_more(self, handle: Handle, given: int) -> bool:
        over = self.error is not None or not self._thread.is_alive()
        return handle.ended or len(handle.tokens) > given or over

    def _raise_to(self, handle: Handle) -> None:
        if self.error is not None and (not handle.ended or handle.error is self.error):
            raise RuntimeError("the engine has stopped") from self.error

    # ---- the serving thread ------------------------------------------------------------

    def _serve(self) -> None:
        while self._served_one_tick():
            pass

    def _served_one_tick(self) -> bool:
        """Wait for work, do one tick of it; False when nothing is left and none will come, or by an error."""
        with self._news:
            self._news.wait_for(lambda: self._closing or not self.engine.scheduler.idle)
        with self.engine.lock:
            if self.engine.scheduler.idle:  # somebody else has done the tick
                return not self._closing
            try:
                self.engine.step()
            except BaseException as error:
                self.error = error
        self.tell()
        return self.error is None
