"""One look a second at what teachers decided, for all open pages of this process."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any, Protocol
from weakref import WeakKeyDictionary, ref

import msgspec
from sqlalchemy.exc import SQLAlchemyError

from app.state.directions import Direction, direction_of, led_now
from app.store import Classes, Decided

EVERY = 1.0  # seconds between two looks

Stored = Callable[..., Awaitable[Any]]


class Place(Protocol):
    """Where a page is."""

    class_id: Any
    exercise_name: Any


class Follower(Protocol):
    """A page that follows its teacher."""

    heard: Direction

    @property
    def lesson(self) -> Place: ...

    async def hear(self, direction: Direction) -> None: ...


class Turns(Protocol):
    """What lets a page change in its turn: its document."""

    def add_next_tick_callback(self, callback: Any) -> object: ...


class Following:
    """Tells open pages of new decisions. Holds no page: one that is gone is forgotten by itself.

    There is one task for all pages; it begins with the first of them and ends with the last.
    """

    def __init__(self, classes: Classes, stored: Stored, *, every: float = EVERY) -> None:
        self._classes = classes
        self._stored = stored
        self._every = every
        self._pages: WeakKeyDictionary[Follower, ref[Turns]] = WeakKeyDictionary()
        self._mark: tuple[int, int] | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def count(self) -> int:
        """How many pages follow."""
        return len(self._pages)

    def join(self, page: Follower, turns: Turns) -> None:
        """From now on tell ``page``, first of all what it missed while it was built. Needs a running loop."""
        self._pages[page] = ref(turns)
        self._mark = None
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._watch())

    def leave(self, page: Follower) -> None:
        """Tell ``page`` nothing more."""
        self._pages.pop(page, None)

    async def _watch(self) -> None:
        while self._pages:
            with suppress(SQLAlchemyError, ConnectionError):  # whoever asked the database has told of it
                await self.look()
            await asyncio.sleep(self._every)

    async def look(self) -> None:
        """Look once, and tell those for whom something is new."""
        mark = await self._stored(self._classes.mark)
        if mark == self._mark:
            return
        self._mark = mark
        for class_id in {page.lesson.class_id for page in list(self._pages)}:
            decided = await self._stored(self._classes.decided, class_id)
            self._tell(class_id, decided)

    def _tell(self, class_id: int, decided: Decided) -> None:
        for page, document in list(self._pages.items()):
            turns = document()
            if page.lesson.class_id != class_id or turns is None:
                continue
            direction = _direction(decided, page.lesson.exercise_name)
            if direction != page.heard:
                turns.add_next_tick_callback(partial(page.hear, direction))


def _direction(decided: Decided, exercise: str) -> Direction:
    """Where the teacher has the class with ``exercise``, and whether it is at another one."""
    found, now = direction_of(decided.of(exercise), ended=decided.ended), led_now(decided)
    return msgspec.structs.replace(found, elsewhere="" if now == exercise else now)
