"""A front door for many threads: one background thread steps the engine while anybody is served."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Any

from engine.engine import Engine
from engine.errors import InputError
from engine.handle import Handle


class FrontDoor:
    """Serves an engine in a thread of its own, until ``close`` (or the end of a ``with`` block).

    ``submit`` and ``cancel`` may be called from any thread. Iterating over a handle then waits for
    the serving thread instead of stepping the engine; inside a callback it raises RuntimeError, since
    the serving thread cannot wait for itself. An error of the engine itself ends the serving: ``error``
    keeps it, it is raised to everybody who waits, and no more requests are taken.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.error: BaseException | None = None
        self._news = threading.Condition(engine.lock)
        self._closing = False
        with engine.lock:
            if engine.waiter is not None:
                raise InputError("this engine has a front door already; close that one first")
            engine.waiter = self._wait
        self._thread = threading.Thread(target=self._serve, name="ticklab-engine", daemon=True)
        self._thread.start()

    def submit(self, prompt: Any, max_tokens: int, **options: Any) -> Handle:
        """As ``Engine.submit``; wakes the serving thread. Raises InputError once the door is closed, and
        RuntimeError when the engine has stopped by an error.
        """
        with self._news:
            if self._closing:
                raise InputError("the front door is closed; no more requests are taken")
            if self.error is not None:
                raise RuntimeError("the engine has stopped") from self.error
            handle = self.engine.submit(prompt, max_tokens, **options)
            self._news.notify_all()
            return handle

    def cancel(self, request_id: str) -> bool:
        """As ``Engine.cancel``."""
        with self._news:
            ended = self.engine.cancel(request_id)
            self._news.notify_all()
            return ended

    def close(self) -> None:
        """Cancel who is still served, stop the thread, close the engine. May be called twice."""
        with self._news:
            self._closing = True
            for key in self.engine.live:
                self.engine.cancel(key)
            self._news.notify_all()
        if threading.current_thread() is not self._thread:
            self._thread.join()
        self.engine.waiter = None
        self.engine.close()

    def __enter__(self) -> FrontDoor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _serve(self) -> None:
        while self._served_one_tick():
            pass

    def _served_one_tick(self) -> bool:
        """Wait for work, do one tick of it; False when nothing is left and none will come, or by an error."""
        with self._news:
            self._news.wait_for(lambda: self._closing or not self.engine.scheduler.idle)
            if self.engine.scheduler.idle:
                return False
            try:
                self.engine.step()
            except BaseException as error:
                self.error = error
            self._news.notify_all()
            return self.error is None

    @property
    def _over(self) -> bool:
        return self.error is not None or not self._thread.is_alive()

    def _wait(self, handle: Handle) -> None:
        """What a reader of ``handle`` does until its next token: wait for the serving thread's next tick."""
        if threading.current_thread() is self._thread:
            raise RuntimeError("a callback cannot wait for tokens: the thread that serves them is its own")
        with self._news:
            known = len(handle.tokens)
            self._news.wait_for(lambda: handle.ended or len(handle.tokens) > known or self._over, timeout=1)
            if self.error is not None and (not handle.ended or handle.error is self.error):
                raise RuntimeError("the engine has stopped") from self.error
