"""What a browser lacks of a run, as JSON, made once for all learners who are at the same tick.

Views are immutable and shared (see ``app.pages.album``), so what is made of them is kept by their identity.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import msgspec

from puzzles.views.model import RunView

Result = TypeVar("Result")
Builtins = dict[str, Any]
KEPT = 512  # a step of the main exercise makes seven


class Remembered(Generic[Result]):
    """``make(a, b)`` for the very objects ``a`` and ``b``. Forgets what was used longest ago."""

    def __init__(self, make: Callable[[RunView, Any], Result]) -> None:
        self._make = make
        self._found: OrderedDict[tuple[int, int], tuple[RunView, Any, Result]] = OrderedDict()

    def __call__(self, view: RunView, other: Any) -> Result:
        place = (id(view), other if isinstance(other, int) else id(other))
        if place not in self._found:
            # Kept together with what it was made of: as long as it is here, the ids are theirs.
            self._found[place] = (view, other, self._make(view, other))
            if len(self._found) > KEPT:
                self._found.popitem(last=False)
        self._found.move_to_end(place)
        return self._found[place][2]


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


def _part(view: RunView, tick: int) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(since(msgspec.to_builtins(view), tick)))


def _is_continued(old: RunView, new: RunView) -> bool:
    """Whether ``new`` is ``old`` with more ticks at its end."""
    return (
        old.timeline.name == new.timeline.name
        and old.timeline.title == new.timeline.title
        and new.strip.frames[: len(old.strip.frames)] == old.strip.frames
        and new.log.frames[: len(old.log.frames)] == old.log.frames
    )


part = Remembered(_part)
"""JSON of a view from a tick on."""

is_continued = Remembered(_is_continued)
"""Whether the second view is the first one with more ticks at its end."""
