"""For all tests: one thread per process, so that side by side they do not fight for the cores; a Chromium."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from playwright.sync_api import expect

from app.settings import Settings
from tests.databases import NEW_POSTGRESQL, POSTGRESQL, SQLITE
from tests.postgres import Cluster
from tests.prepare import chromium

settings.register_profile("no clock", deadline=None)  # how long an example takes is no property
settings.load_profile("no clock")

os.environ.setdefault("OMP_NUM_THREADS", "1")

expect.set_options(timeout=120_000)  # ms: what a page comes to show may take its time on a busy machine

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


# Folders whose tests start servers, workers or other processes.
STARTING = ("backup", "classroom", "deploy", "designing", "faults", "journal", "load", "play", "security")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What starts a process is slow. Browser tests come last: while Playwright lives, no test of the same
    process may start an event loop."""
    for item in items:
        if _starts_something(item):
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: "playwright" in getattr(item, "fixturenames", ()))


def _starts_something(item: pytest.Item) -> bool:
    database = item.callspec.params.get("settings") if hasattr(item, "callspec") else None
    return item.path.parent.name in STARTING or database in (POSTGRESQL, NEW_POSTGRESQL)


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A PostgreSQL for the tests of this process; each asks it for databases of its own."""
    made = Cluster()
    try:
        made.start()
        yield made
    finally:
        made.remove()


@pytest.fixture
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Settings]:
    """Of a server with files and a database of its own: SQLite, or what ``tests.databases`` asks for."""
    kind = getattr(request, "param", SQLITE)
    if kind == SQLITE:
        yield Settings(data=tmp_path / "data")
        return
    cluster = request.getfixturevalue("cluster")
    with cluster.lent(tables=kind != NEW_POSTGRESQL) as url:
        yield Settings(data=tmp_path / "data", database_url=url)


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """The Chromium of this machine, talking to nobody but the pages it is shown."""
    path = chromium()
    assert path, "these tests need a Chromium on the PATH: python -m tests.prepare installs it"
    return browser_type_launch_args | {"executable_path": path, "args": list(ARGUMENTS)}
