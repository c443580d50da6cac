"""The lock of the engine: in order of asking, reentrant, and nobody waits for one who has gone."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from engine.serving.turns import FairLock


def queue_up(lock: FairLock, action: Callable[[], None]) -> threading.Thread:
    """A thread that waits for ``lock`` to do ``action`` in it."""
    before = lock.waiting

    def wait() -> None:
        with lock:
            action()

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    while lock.waiting == before:
        pass
    return thread


def test_who_takes_it_again_at_once_goes_behind_those_who_wait() -> None:
    lock, order = FairLock(), []
    with lock:
        threads = [queue_up(lock, lambda place=place: order.append(place)) for place in range(5)]
    with lock:
        order.append("again")
    for thread in threads:
        thread.join(timeout=120)
    assert order == [0, 1, 2, 3, 4, "again"]


def test_its_owner_may_take_it_twice() -> None:
    lock, order = FairLock(), []
    with lock:
        with lock:
            thread = queue_up(lock, lambda: order.append("other"))
        order.append("owner")
    thread.join(timeout=120)
    assert order == ["owner", "other"]
    assert lock.waiting == 0


def test_it_is_given_back_when_its_block_raises() -> None:
    lock, order = FairLock(), []
    with pytest.raises(KeyError), lock:
        raise KeyError
    with lock:
        thread = queue_up(lock, lambda: order.append("next"))
    thread.join(timeout=120)
    assert order == ["next"]


@pytest.mark.parametrize("handed_over", [False, True])
def test_an_interrupted_thread_gives_up_its_turn(handed_over: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C reaches a thread that waits, before or just after the lock was handed to it."""
    lock, order = FairLock(), []
    inside, leave = threading.Event(), threading.Event()

    def hold() -> None:
        inside.set()
        leave.wait()

    def interrupted_wait(event: threading.Event, timeout: float | None = None) -> bool:
        monkeypatch.undo()
        if handed_over:
            leave.set()
            event.wait()
        raise KeyboardInterrupt

    holder = threading.Thread(target=lambda: enter(lock, hold), daemon=True)
    holder.start()
    inside.wait()
    monkeypatch.setattr(threading.Event, "wait", interrupted_wait)
    with pytest.raises(KeyboardInterrupt), lock:
        order.append("never")
    leave.set()
    holder.join(timeout=120)
    last = threading.Thread(target=lambda: enter(lock, lambda: order.append("last")), daemon=True)
    last.start()
    last.join(timeout=120)
    assert order == ["last"]
    assert lock.waiting == 0


def enter(lock: FairLock, action: Callable[[], None]) -> None:
    with lock:
        action()
