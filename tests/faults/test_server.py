"""A served lab whose database fails, by what other processes do to it; and two tabs at the same moment."""

from __future__ import annotations

import asyncio
import os
import re
import resource
import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from app.settings import DATABASE, Settings
from app.store import Store, open_store
from app.words import app_words
from tests.faults.learners import LOCKED, Learner
from tests.postgres import PASSWORD, Cluster
from tests.serving import Answer, Serving

Fault = Callable[[Serving, Cluster], AbstractContextManager[None]]


@pytest.fixture(scope="module")
def on_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    server = Serving(tmp_path_factory.mktemp("sqlite"))
    server.measure()
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def on_postgresql(tmp_path_factory: pytest.TempPathFactory, cluster: Cluster) -> Iterator[Serving]:
    with cluster.lent() as url:
        server = Serving(tmp_path_factory.mktemp("postgresql"), TICKLAB_DATABASE_URL=url)
        server.start(ready=b'"database": true')  # nobody runs anything
        yield server
        server.stop()


def store_of(server: Serving) -> Store:
    url = server.environment.get("TICKLAB_DATABASE_URL")
    return open_store(Settings(data=server.folder / "data", database_url=url))


def locks_of(server: Serving, learner: Learner) -> list[float]:
    """What ``learner`` has locked, by the one answer that differs."""
    store = store_of(server)
    found = [one for one in store.predictions() if one.place.learner == learner.name]
    store.close()
    return [one.answers["static.R02.ttft"] for one in found]


# ---- faults ------------------------------------------------------------------------------------------


@contextmanager
def locked(server: Serving, _: Cluster) -> Iterator[None]:
    """Another process writes, for longer than the server waits."""
    other = sqlite3.connect(server.folder / "data" / DATABASE, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.execute("ROLLBACK")
        other.close()


@contextmanager
def full_disk(server: Serving, _: Cluster) -> Iterator[None]:
    """No file of the server may grow beyond what the database's log has already."""
    assert server.process is not None
    pid = server.process.pid
    size = (server.folder / "data" / f"{DATABASE}-wal").stat().st_size
    before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, before)


@contextmanager
def moved_away(server: Serving, _: Cluster) -> Iterator[None]:
    file = server.folder / "data" / DATABASE
    away = file.with_name("away")
    file.rename(away)
    try:
        yield
        assert not file.exists()
    finally:
        away.rename(file)


@contextmanager
def restarted(server: Serving, cluster: Cluster) -> Iterator[None]:
    """PostgreSQL goes away in the middle of the class and comes back."""
    cluster.stop()
    try:
        yield
    finally:
        cluster.start()


FAULTS: list[tuple[str, Fault]] = [
    ("on_sqlite", locked),
    ("on_sqlite", full_disk),
    ("on_sqlite", moved_away),
    ("on_postgresql", restarted),
]


@pytest.mark.parametrize(("where", "fault"), FAULTS, ids=[fault.__name__ for _, fault in FAULTS])
@pytest.mark.parametrize("language", ["en", "zh"])
async def test_a_lock_waits_for_the_database(
    request: pytest.FixtureRequest, cluster: Cluster, where: str, fault: Fault, language: str
) -> None:
    """The learner is told in their language, nothing is shown as locked, and the same page can lock later."""
    server: Serving = request.getfixturevalue(where)
    log = len(server.log.read_text())
    async with Learner(server.page, language=language) as before:
        await before.read()
        await before.lock(static__R02__ttft=41.5)
        await before.hear(LOCKED)
    async with Learner(server.page, language=language) as learner:
        await learner.read()
        learner.heard.clear()
        with fault(server, cluster):
            await learner.lock(static__R02__ttft=42.5)
            assert await learner.hear(app_words(language)("unstored.lock"), LOCKED) != LOCKED
            assert not (await learner.now())["locked"]
        learner.heard.clear()
        await learner.lock(static__R02__ttft=43.5)
        await learner.hear(LOCKED)
        assert (await learner.now())["locked"]
        assert locks_of(server, learner) == [43.5]
        assert locks_of(server, before) == [41.5]
    async with Learner(server.page, before.cookie) as again:
        assert again.form()["locked"]
    told = server.log.read_text()[log:]
    assert len(re.findall("Database trouble", told)) == 1, told
    assert len(re.findall("well again", told)) == 1, told
    assert "Traceback" not in told
    assert PASSWORD not in told


@pytest.mark.parametrize("where", ["on_sqlite", "on_postgresql"])
async def test_two_tabs_that_lock_at_the_same_moment(request: pytest.FixtureRequest, where: str) -> None:
    """One prediction is locked, and both tabs show that one."""
    server: Serving = request.getfixturevalue(where)
    async with Learner(server.page) as first:
        await first.read()
        async with Learner(server.page, first.cookie) as second:
            await asyncio.gather(first.lock(static__R02__ttft=51.5), second.lock(static__R02__ttft=52.5))
            await asyncio.gather(first.hear(LOCKED), second.hear(LOCKED))
            shown = [dict((await tab.now())["draft"]["entries"]) for tab in (first, second)]
    assert shown[0] == shown[1]
    assert [float(shown[0]["static.R02.ttft"])] == locks_of(server, first)


async def test_a_killed_engine_is_one_line_of_the_log_and_learners_are_told(on_sqlite: Serving) -> None:
    """In the middle of a run; the lock stays, and the next step works."""
    log = len(on_sqlite.log.read_text())
    async with Learner(on_sqlite.page) as learner:
        await learner.read()
        await learner.lock()
        await learner.hear(LOCKED)
        worker = on_sqlite.worker()
        os.kill(worker, signal.SIGSTOP)
        await learner.step()
        on_sqlite.wait_until_asked()
        os.kill(worker, signal.SIGKILL)
        await learner.hear(app_words("en")("run.error.lost"))
        learner.heard.clear()
        await learner.step()
        await learner.hear('"known"')
    told = on_sqlite.log.read_text()[log:]
    assert told.count("The engine process ended in the middle of a run") == 1
    assert told.count("The engine is ready.") == 1
    assert "Traceback" not in told


# ---- at the start --------------------------------------------------------------------------------------


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Serving]:
    server = Serving(tmp_path)
    yield server
    server.stop()


@pytest.mark.parametrize(("language", "said"), [("en", "What you locked is safe"), ("zh", "没有丢")])
def test_a_lab_without_its_postgresql_says_so_and_opens_when_it_is_there(
    own: Serving, cluster: Cluster, language: str, said: str
) -> None:
    with cluster.lent() as url:
        own.environment["TICKLAB_DATABASE_URL"] = url
        cluster.stop()
        try:
            own.start(ready=b'"database": false')
            page = Answer(f"{own.page}?lang={language}")
        finally:
            cluster.start()
        assert page.status == 500
        assert said in page.text
        assert Answer(f"{own.page}?lang={language}").status == 200
        assert b'"database": true' in Answer(f"{own.url}/healthz").body
        own.stop()
    told = own.log.read_text()
    assert told.count("Database trouble: PostgreSQL cannot be reached") == 1
    assert told.count("well again") == 1
    for betrayal in (PASSWORD, "Traceback", "psycopg"):
        assert betrayal not in told + page.text


def test_a_lab_without_the_driver_says_which_package_is_missing(own: Serving) -> None:
    without_driver(own.folder)
    own.environment["PYTHONPATH"] = f"{own.folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    own.environment["TICKLAB_DATABASE_URL"] = f"postgresql://lab:{PASSWORD}@127.0.0.1/lab"
    own.start(ready=b'"database": false')
    assert Answer(own.page).status == 500
    told = own.log.read_text()
    assert "pip install 'psycopg[binary]'" in told
    assert "Traceback" not in told
    assert PASSWORD not in told


def without_driver(folder: Path) -> None:
    """Let Python processes that have ``folder`` on their path find no psycopg."""
    (folder / "sitecustomize.py").write_text("import sys\nsys.modules['psycopg'] = None\n")
