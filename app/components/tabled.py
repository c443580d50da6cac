"""A picture of a run with its table beside it, written by the renderer of the static pages.

The browser asks for the table of a tick when it is opened; whoever holds the runs answers with ``table_of``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import msgspec
import param

from app.components.base import RunComponent
from puzzles.render import pages_table, strip_table, timeline_table
from puzzles.views.model import RunView, Strip, Timeline

KINDS = ("timeline", "pages", "strip")


class Tabled(RunComponent):
    """Base of the pictures that can be read as a table. Watch ``asked``, answer with ``table``."""

    table = param.Dict(default={}, doc="The answer: ``html`` of the table as it is at the end of ``tick``.")

    asked = param.Parameter(default=None, doc="The tick whose table is wanted, for those who watch.")

    kind: ClassVar[str] = ""  # which table, one of KINDS
    _rename: ClassVar[dict[str, str | None]] = {"asked": None}

    __abstract = True

    def _handle_msg(self, data: Any) -> None:
        """The table is open in the browser and shows another tick."""
        if isinstance(data, dict) and data.get("type") == "table" and type(data.get("tick")) is int:
            with param.discard_events(self):
                self.asked = data["tick"]
            self.param.trigger("asked")  # once, and also for the same tick again

    def answer(self, views: Mapping[str, RunView]) -> None:
        """Send the table that was asked for, of the chosen ones of ``views``."""
        chosen = [views[name] for name in self.names or views if name in views]
        self.table = {"tick": self.asked, "html": table_of(self.kind, chosen, self.asked, self.language)}


def table_of(kind: str, views: Iterable[RunView], tick: int, language: str) -> str:
    """HTML of the ``kind`` of table of each run, as far as the end of ``tick`` (-1: before the first)."""
    return "".join(_table(kind, view, tick, language) for view in views)


def _table(kind: str, view: RunView, tick: int, language: str) -> str:
    if kind == "pages":
        return pages_table(view.pages, language, ticks=[tick])
    if kind == "strip":
        return strip_table(_strip(view.strip, tick), language)
    return timeline_table(_timeline(view.timeline, tick), language)


def _strip(strip: Strip, tick: int) -> Strip:
    return msgspec.structs.replace(strip, frames=strip.frames[: tick + 1])


def _timeline(timeline: Timeline, tick: int) -> Timeline:
    rows = tuple(msgspec.structs.replace(row, cells=row.cells[: tick + 1]) for row in timeline.rows)
    return msgspec.structs.replace(timeline, rows=rows, ms=timeline.ms[: tick + 1])
