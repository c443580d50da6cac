"""How many requests wait, tick by tick, run by run."""

from __future__ import annotations

from typing import ClassVar

import param

from app.components.tabled import Tabled


class Backlog(Tabled):
    """The backlog of each run as bars on one scale, up to the page's tick."""

    expected = param.Integer(default=20, doc="Ticks on the axis while the runs are shorter.")

    kind: ClassVar[str] = "strip"
    _bundle = "backlog.js"
    _section: ClassVar[str] = "backlog"
