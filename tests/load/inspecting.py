"""A plugin for a test's own server, never part of the lab: ``/inspect`` tells what the process still holds.

panel serve app --plugins tests.load.inspecting
"""

from __future__ import annotations

import asyncio
import gc
from collections import Counter
from pathlib import Path
from typing import Any

from bokeh.document import Document
from bokeh.server.session import ServerSession
from panel.io.callbacks import PeriodicCallback as PanelsPeriodicCallback
from panel.viewable import Viewable
from param import Parameterized
from tornado.ioloop import PeriodicCallback
from tornado.web import RequestHandler

PAGES = ("app.pages.learn", "app.pages.pictures", "app.pages.texts", "app.state.lesson")


class Inspect(RequestHandler):
    """``/inspect``: sessions and tasks; ``/inspect?deep``: what is alive after all garbage is collected."""

    def get(self) -> None:
        sessions = sum(len(one.sessions) for one in self.application.applications.values())
        found = {"sessions": sessions, "tasks": sorted(map(_name, asyncio.all_tasks()))}
        self.write(found | (_alive() if "deep" in self.request.arguments else {}))


def _name(task: asyncio.Task[Any]) -> str:
    return str(getattr(task.get_coro(), "__qualname__", task))


def _alive() -> dict[str, Any]:
    gc.collect()
    gc.collect()  # what the first round's finalizers let go
    kinds = Counter(map(type, gc.get_objects()))  # by type alone: a proxy asked for its class may do anything
    periodic = [one for one in gc.get_objects() if type(one) is PeriodicCallback]
    return {
        "documents": _count(kinds, Document),
        "session_objects": _count(kinds, ServerSession),
        "components": _count(kinds, Viewable),
        "ours": {kind.__name__: count for kind, count in kinds.items() if _is_ours(kind)},
        "periodic": sum(one.is_running() for one in periodic),
        "panel_periodic": _count(kinds, PanelsPeriodicCallback),
        "objects": kinds.total(),
        "memory": _memory(),
    }


def _count(kinds: Counter[type], base: type) -> int:
    return sum(count for kind, count in kinds.items() if issubclass(kind, base))


def _is_ours(kind: type) -> bool:
    """Whether it belongs to one page or one lesson."""
    ours = str(kind.__module__).startswith("app.")
    return str(kind.__module__) in PAGES or (ours and issubclass(kind, Parameterized))


def _memory() -> int:
    """Resident bytes of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS:")).split()[1]) * 1024


ROUTES = [("/inspect", Inspect)]
