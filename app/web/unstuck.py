"""Panel may forget a message that comes while the one before it is being written; this writes it.

Who has written a document's messages takes the mark away that more are to be written. A message that
was put down meanwhile has a task of its own, but that task finds no mark and does nothing: the message
lies there until the page is sent another one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from panel.io import document as panels

_write: Callable[[Any], Awaitable[None]] = panels._dispatch_msgs


async def write_all(document: Any) -> None:
    """Write the messages of ``document``, also those that come meanwhile."""
    await _write(document)
    while document in panels._WRITE_MSGS and document not in panels._WRITE_BLOCK:
        panels._WRITE_BLOCK[document] = True
        await _write(document)


def install() -> None:
    """Let Panel write that way. May be called again."""
    panels._dispatch_msgs = write_all
