"""The KV pool of some runs, paged against contiguous, at the page's tick."""

from __future__ import annotations

from typing import ClassVar

from app.components.tabled import Tabled


class PageMaps(Tabled):
    """Who owns which page or run of slots, and how much of it is written."""

    kind: ClassVar[str] = "pages"
    _bundle = "page_maps.js"
    _section: ClassVar[str] = "pages"
