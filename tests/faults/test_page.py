"""The database fails under the page: nothing is shown as locked, and all goes on when the fault is gone."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from typing import Any

import pytest
import pytest_asyncio
from sqlalchemy import event, func, select
from sqlalchemy.exc import OperationalError

from app.pages.learn import LearnPage
from app.server import Server
from app.settings import DATABASE, Settings
from app.state import Lesson
from app.store import Place, schema
from app.words import app_words
from tests.app.classroom import classroom
from tests.classroom.running import right_answers
from tests.databases import POSTGRESQL, SQLITE
from tests.postgres import Cluster

TEXTS = {key: str(value) for key, value in right_answers().items()}
Fault = Callable[[Server, Cluster | None], AbstractContextManager[None]]


@contextmanager
def pragma(server: Server, statement: str, back: str) -> Iterator[None]:
    """Each connection has ``statement`` from now on, and ``back`` afterwards."""
    said = [statement]

    def say(connection: Any, *_: Any) -> None:
        connection.execute(said[0])

    event.listen(server.store.engine, "checkout", say)
    try:
        yield
    finally:
        said[0] = back


@contextmanager
def locked(server: Server, _: Cluster | None) -> Iterator[None]:
    """Another process writes for longer than one waits (made shorter, so that the test is)."""
    other = sqlite3.connect(server.settings.data / DATABASE, isolation_level=None)
    with closing(other), pragma(server, "PRAGMA busy_timeout=50", "PRAGMA busy_timeout=5000"):
        other.execute("BEGIN IMMEDIATE")
        yield


@contextmanager
def full(server: Server, _: Cluster | None) -> Iterator[None]:
    """The file may not grow, and its pages are full: others have locked until nothing more fits in."""
    with server.store.engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
    with pragma(server, f"PRAGMA max_page_count={pages}", "PRAGMA max_page_count=1000000"):
        for number in range(10_000):
            if not stored(server, Place(f"{'e' * 24}{number:08x}", "main", 1)):
                break
        yield


def stored(server: Server, place: Place) -> bool:
    try:
        server.store.lock(place, TEXTS, confidence=None, why="")
    except OperationalError:
        return False
    return True


@contextmanager
def readonly(server: Server, _: Cluster | None) -> Iterator[None]:
    with pragma(server, "PRAGMA query_only=ON", "PRAGMA query_only=OFF"):
        yield


@contextmanager
def gone(server: Server, _: Cluster | None) -> Iterator[None]:
    """The file is moved away, and put back."""
    file = server.settings.data / DATABASE
    away = file.with_name("away")
    file.rename(away)
    yield
    assert not file.exists()
    away.rename(file)


@contextmanager
def replaced(server: Server, _: Cluster | None) -> Iterator[None]:
    """Another file is in its place."""
    file = server.settings.data / DATABASE
    away = file.with_name("away")
    file.rename(away)
    file.touch()
    yield
    away.rename(file)


@contextmanager
def held(server: Server, cluster: Cluster | None) -> Iterator[None]:
    """Another program holds PostgreSQL's tables."""
    assert cluster is not None
    quick = pragma(server, "set lock_timeout = '100ms'", "set lock_timeout = '5s'")
    with quick, cluster.connect(str(server.store.engine.url.database)) as other:
        other.autocommit = False
        other.execute("lock table predictions, progress, attempts, drafts in exclusive mode")
        yield
        other.rollback()


@contextmanager
def forbidden(server: Server, cluster: Cluster | None) -> Iterator[None]:
    """PostgreSQL lets nothing be written."""
    assert cluster is not None
    name = server.store.engine.url.database

    def let(read_only: str) -> None:
        with cluster.connect() as other:
            other.execute(f"alter database {name} set default_transaction_read_only = {read_only}")
            other.execute(f"select pg_terminate_backend(pid) from pg_stat_activity where datname = '{name}'")

    let("on")
    try:
        yield
    finally:
        let("off")


@contextmanager
def stopped(_: Server, cluster: Cluster | None) -> Iterator[None]:
    """PostgreSQL is stopped under the server and started again."""
    assert cluster is not None
    cluster.stop()
    try:
        yield
    finally:
        cluster.start()


FAULTS: list[tuple[str, Fault, str]] = [
    (SQLITE, locked, "locked"),
    (SQLITE, full, "full"),
    (SQLITE, readonly, "readonly"),
    (SQLITE, gone, "gone"),
    (SQLITE, replaced, "gone"),
    (POSTGRESQL, held, "locked"),
    (POSTGRESQL, forbidden, "readonly"),
    (POSTGRESQL, stopped, "unreachable"),
]


def of(*faults: tuple[str, Fault, str]) -> pytest.MarkDecorator:
    """The test for each of ``faults``."""
    ids = [f"{kind}-{fault.__name__}" for kind, fault, _ in faults]
    return pytest.mark.parametrize(("settings", "fault", "code"), faults, indirect=["settings"], ids=ids)


@pytest_asyncio.fixture
async def server(settings: Settings) -> AsyncIterator[Server]:
    made = classroom(settings)
    yield made
    await made.close()


@pytest.fixture
def others(request: pytest.FixtureRequest, settings: Settings) -> Cluster | None:
    """The PostgreSQL of this test, if it has one."""
    return request.getfixturevalue("cluster") if settings.database_url else None


class Page(LearnPage):
    """A learner's page, and all it said beside what it shows."""

    def __init__(self, server: Server, learner: str = "e" * 32, language: str = "en") -> None:
        super().__init__(Lesson(server=server, learner=learner, language=language))
        self.notes: list[str] = []
        self.form._send_msg = lambda data: self.notes.append(data["note"])  # type: ignore[method-assign]

    async def press_lock(self, texts: dict[str, str]) -> None:
        with_texts = {"type": "lock", "draft": texts}
        self.form.param.update(draft=self.form._clean(with_texts["draft"]))
        await self._lock(None)


def rows(server: Server) -> int:
    mine = schema.predictions.c.learner == "e" * 32
    with server.store.engine.connect() as connection:
        return connection.execute(select(func.count()).where(mine)).scalar_one()


@of(*FAULTS)
@pytest.mark.parametrize("language", ["en", "zh"])
async def test_a_lock_that_is_not_stored_is_not_shown_and_can_be_repeated(
    server: Server,
    others: Cluster | None,
    fault: Fault,
    code: str,
    language: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "ticklab")
    page = Page(server, language=language)
    await page.lesson.read()
    with fault(server, others):
        await page.press_lock(TEXTS)
        assert page.notes == [app_words(language)("unstored.lock")]
        assert not page.form.locked
        assert not page.lesson.locked
        assert not page.state()["locked"]
        assert not page.player.enabled
        assert page.form.draft == TEXTS
        assert server.trouble.code == code
    await page.press_lock(TEXTS)
    assert page.form.locked
    assert page.lesson.step == "run"
    assert page.player.enabled
    assert rows(server) == 1
    assert server.trouble.code == ""
    said = [record.getMessage() for record in caplog.records if record.name == "ticklab"]
    assert [line.split()[1] for line in said] == ["trouble:", "database"]  # one line each, no more


@of(*(one for one in FAULTS if one[1] is not full))  # a full file still takes what fits in the old place
async def test_the_other_steps_say_so_too_and_go_on(
    server: Server, others: Cluster | None, fault: Fault, code: str
) -> None:
    """Read, type, run, observe: each is told, changes nothing, and works when the fault is gone."""
    words = app_words("en")
    page, new = Page(server), Page(server, "f" * 32)
    await page.press_lock(TEXTS)
    await page._step(None)
    with fault(server, others):
        await new._command(Sent({"name": "read"}))
        assert new.lesson.step == "read"
        assert new.desk.message["text"] == words("unstored.step")
        await new._draft(Sent({"static.R02.ttft": "0.4"}))
        assert new.desk.message["text"] == words("unstored.draft")
        await page._end(None)
        assert page.player.problem == words("unstored.run")
        assert (page.lesson.step, page.lesson.known, page.player.known) == ("run", 1, 1)
        await page._move(Sent(0))
    await new._command(Sent({"name": "read"}))
    assert new.lesson.step == "predict"
    await page._end(None)
    assert page.player.problem == ""
    assert page.lesson.step == "observe"
    with fault(server, others):
        await page._command(Sent({"name": "observe", "text": "1.1"}))
        assert page.lesson.observed is None
        assert page.lesson.step == "observe"
    await page._command(Sent({"name": "observe", "text": "1.1"}))
    assert page.lesson.step == "verdict"
    assert page.lesson.revealed
    back = Lesson(server=server, learner="e" * 32)
    assert (back.step, back.locked, back.observed) == ("verdict", True, page.lesson.observed)


class Sent:
    """What a watcher is handed."""

    def __init__(self, new: Any) -> None:
        self.new = new


@pytest.mark.parametrize("settings", [SQLITE, POSTGRESQL], indirect=True)
async def test_what_no_database_keeps_is_left_out(server: Server) -> None:
    """A forged draft with NUL or half a character is no way to a fault."""
    page = Page(server)
    await page.press_lock(TEXTS | {"why": "a\0b\ud800c"})
    assert page.form.locked
    assert page.lesson.prediction is not None
    assert page.lesson.prediction.why == "abc"
    assert server.store.predictions()[0].why == "abc"
