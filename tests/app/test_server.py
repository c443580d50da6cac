"""What one server process shares: whoever only reads waits for nobody who writes."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.server import Server
from app.settings import Settings


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    made = Server(Settings(data=tmp_path))
    yield made
    await made.close()


async def test_a_writer_that_is_stuck_holds_no_reader_up(server: Server) -> None:
    """As at a database that another program holds locked: the write waits, what is there can be seen."""
    began, go_on = threading.Event(), threading.Event()

    def stuck() -> str:
        began.set()
        assert go_on.wait(60)
        return "written"

    writing = asyncio.create_task(server.stored(stuck))
    try:
        await asyncio.to_thread(began.wait, 60)
        assert await server.looked_up(server.store.classes.current) is None
        assert not writing.done()
    finally:
        go_on.set()
    assert await writing == "written"
