"""The recorded runs of the page: sent once, tick by tick, and shared by all views in the browser."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import msgspec
import param

from app.components.base import LabComponent
from app.components.deltas import is_continued, part
from puzzles.views.model import RunView


class Runs(LabComponent):
    """Draws nothing. ``show(views)`` hands the runs to every view on the page."""

    data = param.String(default="", doc="JSON: runs from tick ``since`` on, and whether they start afresh.")

    _bundle = "runs.js"
    _section: ClassVar[str] = ""

    def __init__(self, **params: Any) -> None:
        self._views: tuple[RunView, ...] = ()
        self._sent = 0
        super().__init__(**params)

    def show(self, views: Sequence[RunView]) -> None:  # type: ignore[override]
        """Show ``views``: all of a run so far. Only ticks the browser lacks are sent."""
        if not _all_continued(self._views, views):
            self._sent = 0
        self._views = tuple(views)
        self._send(self._sent)

    def _send(self, tick: int) -> None:
        runs = [part(view, tick) for view in self._views]
        self.data = msgspec.json.encode({"since": tick, "runs": runs}).decode()
        self._sent = max((len(view.strip.frames) for view in self._views), default=0)

    def _handle_msg(self, data: Any) -> None:
        """The browser missed something (a new page, a lost connection): send everything."""
        if isinstance(data, dict) and "have" in data:
            self._send(0)


def _all_continued(old: Sequence[RunView], new: Sequence[RunView]) -> bool:
    """Whether the ``new`` views are the ``old`` ones with more ticks at their ends."""
    return len(old) == len(new) and all(is_continued(a, b) for a, b in zip(old, new, strict=True))
