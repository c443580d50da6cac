"""The KV pool of some runs, paged against contiguous, at the page's tick."""

from __future__ import annotations

from typing import ClassVar

import param

from app.components.base import RunComponent


class PageMaps(RunComponent):
    """Who owns which page or run of slots, and how much of it is written."""

    tables = param.Dict(default={}, doc="HTML of “as a table” per run name; empty: made from the tick shown.")

    _bundle = "page_maps.js"
    _section: ClassVar[str] = "pages"
