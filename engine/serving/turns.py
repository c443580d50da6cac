"""A lock that goes to whoever has waited for longest."""

from __future__ import annotations

import threading
from collections import deque
from types import TracebackType


class FairLock:
    """A reentrant lock for ``with``: who asks first has it first.

    ``threading.RLock`` promises no order. A thread that gives it back only to take it again, as one
    does that runs tick after tick, then keeps everybody else out for hundreds of ticks.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()  # of the fields below; held for moments only
        self._owner: int | None = None
        self._depth = 0
        self._queue: deque[tuple[int, threading.Event]] = deque()

    @property
    def waiting(self) -> int:
        """How many threads wait for it."""
        return len(self._queue)

    def __enter__(self) -> None:
        thread = threading.get_ident()
        if self._owner != thread:
            self._wait_for_turn(thread)
        self._depth += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._depth -= 1
        if not self._depth:
            with self._guard:
                self._hand_over()

    def _wait_for_turn(self, thread: int) -> None:
        with self._guard:
            if self._owner is None:
                self._owner = thread
                return
            entry = (thread, threading.Event())
            self._queue.append(entry)
        try:
            entry[1].wait()
        except BaseException:  # such as Ctrl-C: nobody may wait for one who has gone
            with self._guard:
                if entry in self._queue:
                    self._queue.remove(entry)
                else:
                    self._hand_over()
            raise

    def _hand_over(self) -> None:
        """Make the first in the queue the owner, if there is one."""
        if not self._queue:
            self._owner = None
            return
        self._owner, turn = self._queue.popleft()
        turn.set()
