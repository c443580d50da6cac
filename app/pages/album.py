"""Pictures of recorded runs, made once: a class that steps through the same exercise shares them."""

from __future__ import annotations

from collections import OrderedDict

from engine import History
from puzzles.views import run_view
from puzzles.views.model import RunView

KEPT = 512  # the first ticks of a run, each number of ticks and language a picture of its own


class Album:
    """Views by run, number of ticks and language. Forgets the one that was used longest ago."""

    def __init__(self) -> None:
        self._views: OrderedDict[tuple[str, int, str, str], RunView] = OrderedDict()

    def view(self, key: str, history: History, name: str, language: str) -> RunView:
        """The view of the run of that key, as far as ``history`` has it."""
        place = (key, len(history.records), name, language)
        if place not in self._views:
            self._views[place] = run_view(history, name, language)
        self._views.move_to_end(place)
        if len(self._views) > KEPT:
            self._views.popitem(last=False)
        return self._views[place]


album = Album()
