"""No message for a page is forgotten because another one is just being written."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from bokeh.document import Document
from panel.io import document as panels

from app.web import unstuck


class Socket:
    """Where messages are written to."""


class Page:
    """A page's connection; what is to be sent is its own message."""

    def __init__(self) -> None:
        self._socket = Socket()
        self.protocol = SimpleNamespace(create=lambda _, events: events)


@pytest.mark.parametrize("mended", [False, True])
async def test_what_comes_while_another_is_written(mended: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the mend Panel forgets it: when that is over, the mend can go."""
    written: list[Any] = []
    busy: list[asyncio.Future[None]] = []

    def write(_: Any, *, msg: Any) -> list[asyncio.Future[None]]:
        written.append(msg)
        busy.append(asyncio.get_running_loop().create_future())
        return busy[-1:]

    monkeypatch.setitem(panels.extra_socket_handlers, Socket, write)
    monkeypatch.setattr(panels, "_dispatch_msgs", unstuck.write_all if mended else unstuck._write)
    page, document = Page(), Document()
    panels.schedule_write_events(document, [page], ["first"])
    await settled()
    busy[0].set_result(None)
    panels.schedule_write_events(document, [page], ["second"])
    await settled()
    assert written == ([["first"], ["second"]] if mended else [["first"]])
    for future in busy[1:]:
        future.set_result(None)
    await settled()
    panels._WRITE_MSGS.pop(document, None)


async def settled() -> None:
    """Let everything run that can."""
    for _ in range(20):
        await asyncio.sleep(0)


def test_the_lab_has_it() -> None:
    unstuck.install()
    assert panels._dispatch_msgs is unstuck.write_all
