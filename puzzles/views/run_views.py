"""All views of one run, or of several runs side by side."""

from __future__ import annotations

from collections.abc import Mapping

from engine import History
from puzzles.views.logs import log
from puzzles.views.model import RunView
from puzzles.views.page_maps import page_map
from puzzles.views.strips import strip
from puzzles.views.timelines import timeline
from puzzles.words import puzzle_words


def run_view(history: History, name: str, language: str) -> RunView:
    """Everything the page shows of the run ``name``, or of its first ticks."""
    words = puzzle_words(language)
    return RunView(
        timeline=timeline(history, name, words),
        strip=strip(history, name, words),
        pages=page_map(history, name, words),
        log=log(history, name, words),
        done=done(history),
    )


def run_views(histories: Mapping[str, History], language: str) -> dict[str, RunView]:
    """The views of each run, by name."""
    return {name: run_view(history, name, language) for name, history in histories.items()}


def done(history: History) -> bool:
    """Whether every request of the run has ended."""
    ended = {
        key
        for record in history.records
        for key in (*dict(record.finished), *record.refused, *record.cancelled)
    }
    return ended >= history.requests.keys()
