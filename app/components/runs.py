"""The recorded runs of the page: sent once, tick by tick, and shared by all views in the browser."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import msgspec
import param

from app.components.base import LabComponent
from puzzles.views.model import RunView

Builtins = dict[str, Any]


def since(run: Builtins, tick: int) -> Builtins:
    """``run`` without what belongs to ticks before ``tick``."""
    timeline = {
        **run["timeline"],
        "rows": [
            {**row, "cells": [cell for cell in row["cells"] if cell["tick"] >= tick]}
            for row in run["timeline"]["rows"]
        ],
        "ms": list(run["timeline"]["ms"])[tick:],
    }
    parts = {
        name: {**run[name], "frames": [frame for frame in run[name]["frames"] if frame["tick"] >= tick]}
        for name in ("strip", "pages", "log")
    }
    return {**run, "timeline": timeline, **parts}


class Runs(LabComponent):
    """Draws nothing. ``show(views)`` hands the runs to every view on the page."""

    data = param.String(default="", doc="JSON: runs from tick ``since`` on, and whether they start afresh.")

    _bundle = "runs.js"
    _section: ClassVar[str] = ""

    def __init__(self, **params: Any) -> None:
        self._views: list[Builtins] = []
        self._sent = 0
        super().__init__(**params)

    def show(self, views: Sequence[RunView]) -> None:  # type: ignore[override]
        """Show ``views``: all of a run so far. Only ticks the browser lacks are sent."""
        fresh = [msgspec.to_builtins(view) for view in views]
        if not _goes_on(self._views, fresh):
            self._sent = 0
        self._views = fresh
        self._send(self._sent)

    def _send(self, tick: int) -> None:
        runs = [since(run, tick) for run in self._views]
        self.data = msgspec.json.encode({"since": tick, "runs": runs}).decode()
        self._sent = max((len(run["strip"]["frames"]) for run in self._views), default=0)

    def _handle_msg(self, data: Any) -> None:
        """The browser missed something (a new page, a lost connection): send everything."""
        if isinstance(data, dict) and "have" in data:
            self._send(0)


def _goes_on(old: list[Builtins], new: list[Builtins]) -> bool:
    """Whether ``new`` is ``old`` with more ticks at its end."""
    if [run["timeline"]["name"] for run in old] != [run["timeline"]["name"] for run in new]:
        return False
    return all(
        b["strip"]["frames"][: len(a["strip"]["frames"])] == a["strip"]["frames"]
        and b["log"]["frames"][: len(a["log"]["frames"])] == a["log"]["frames"]
        and b["timeline"]["title"] == a["timeline"]["title"]
        for a, b in zip(old, new, strict=True)
    )
