"""One look a second for all pages: who is told, who is not, and that nothing is left when they are gone."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from weakref import ref

import pytest
from sqlalchemy.exc import OperationalError

from app.state.directions import Direction
from app.state.following import Following
from app.store import Classes, Store


class Page:
    """A page that notes what it hears."""

    def __init__(self, class_id: int, exercise: str = "main") -> None:
        self.lesson = SimpleNamespace(class_id=class_id, exercise_name=exercise)
        self.heard = Direction()
        self.told: list[Direction] = []

    async def hear(self, direction: Direction) -> None:
        self.heard = direction
        self.told.append(direction)


class Turns:
    """A document: takes callbacks and runs them at once."""

    def add_next_tick_callback(self, callback: Callable[[], Any]) -> None:
        asyncio.get_running_loop().create_task(callback())


class Asked:
    """Counts how often the store is asked; ``fail`` lets the next call fail."""

    def __init__(self) -> None:
        self.calls = 0
        self.fail = False

    async def __call__(self, call: Callable[..., Any], *args: Any, **names: Any) -> Any:
        self.calls += 1
        if self.fail:
            self.fail = False
            raise OperationalError("select", {}, Exception("locked"))
        return call(*args, **names)


@pytest.fixture
def classes(store: Store) -> Classes:
    return store.classes


@pytest.fixture
def asked() -> Asked:
    return Asked()


@pytest.fixture
def following(classes: Classes, asked: Asked) -> Following:
    return Following(classes, asked, every=0.005)


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not true():
            await asyncio.sleep(0.001)


async def test_pages_hear_what_is_new_for_their_exercise_and_class(
    classes: Classes, following: Following
) -> None:
    past = classes.start()
    now = classes.start()
    mine, other, old = Page(now.id), Page(now.id, "itl"), Page(past.id)
    turns = Turns()
    for page in (mine, other, old):
        following.join(page, turns)
    await until(lambda: bool(old.told))
    classes.decide(now.id, "phase", "vote1", exercise="main")
    await until(lambda: bool(mine.told))
    classes.decide(now.id, "phase", "run", exercise="main")
    classes.decide(now.id, "tick", 7, exercise="main")
    await until(lambda: mine.heard == Direction("run", 7))
    assert mine.told[0] == Direction("vote1")
    assert {(one.phase, one.elsewhere) for one in other.told} == {("free", "main")}
    assert [one.phase for one in old.told] == ["ended"]


async def test_pages_of_other_exercises_hear_where_the_class_is(
    classes: Classes, following: Following
) -> None:
    now, turns = classes.start(), Turns()
    here, there = Page(now.id), Page(now.id, "itl")
    for page in (here, there):
        following.join(page, turns)
    for exercise, phase in (("main", "vote1"), ("itl", "closed")):
        classes.decide(now.id, "phase", phase, exercise=exercise)
        await until(lambda exercise=exercise: exercise in (here.heard.elsewhere, there.heard.elsewhere))
    await until(lambda: there.heard == Direction("closed"))
    assert here.heard == Direction("vote1", elsewhere="itl")
    classes.decide(now.id, "phase", "free", exercise="itl")
    await until(lambda: here.heard == Direction("vote1"))
    classes.decide(now.id, "phase", "vote1", exercise="itl")
    await until(lambda: here.heard.elsewhere == "itl")
    classes.end(now.id)
    await until(lambda: here.heard.phase == "ended")
    assert here.heard.elsewhere == ""


async def test_a_page_that_comes_late_hears_what_it_missed(classes: Classes, following: Following) -> None:
    now, turns = classes.start(), Turns()
    first = Page(now.id)
    following.join(first, turns)
    classes.decide(now.id, "phase", "discuss", exercise="main")
    await until(lambda: bool(first.told))
    late = Page(now.id)
    following.join(late, turns)
    await until(lambda: bool(late.told))
    assert first.told == late.told == [Direction("discuss")]


async def test_the_store_is_asked_once_for_all_pages(
    classes: Classes, following: Following, asked: Asked
) -> None:
    now, turns = classes.start(), Turns()
    pages = [Page(now.id) for _ in range(60)]
    for page in pages:
        following._pages[page] = ref(turns)
    classes.decide(now.id, "phase", "closed", exercise="main")
    await following.look()
    await until(lambda: all(page.told for page in pages))
    assert asked.calls == 2  # what is the mark, and what was decided
    await following.look()
    assert asked.calls == 3


async def test_a_database_that_does_not_answer_is_asked_again(
    classes: Classes, following: Following, asked: Asked
) -> None:
    now, turns = classes.start(), Turns()
    page = Page(now.id)
    asked.fail = True
    following.join(page, turns)
    classes.decide(now.id, "phase", "closed", exercise="main")
    await until(lambda: bool(page.told))
    assert not asked.fail


async def test_nothing_is_left_when_the_pages_are_gone(classes: Classes, following: Following) -> None:
    now, turns = classes.start(), Turns()
    stays, leaves = Page(now.id), Page(now.id)
    following.join(stays, turns)
    following.join(leaves, turns)
    following.leave(leaves)
    following.leave(leaves)
    classes.decide(now.id, "phase", "closed", exercise="main")
    heard = stays.told
    await until(lambda: bool(heard))
    assert leaves.told == []
    stays = None
    gc.collect()
    assert following.count == 0
    task = following._task
    assert task is not None
    await until(task.done)
    again = Page(now.id)
    following.join(again, turns)  # the next page starts it anew
    await until(lambda: bool(again.told))


async def test_a_page_whose_document_is_gone_is_passed_over(classes: Classes, following: Following) -> None:
    now, turns = classes.start(), Turns()
    page, other = Page(now.id), Page(now.id)
    following.join(page, Turns())
    following.join(other, turns)
    gc.collect()
    classes.decide(now.id, "phase", "closed", exercise="main")
    await until(lambda: bool(other.told))
    assert page.told == []
