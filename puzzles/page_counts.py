"""How much of the KV pool a run takes, at its fullest: paged against contiguous."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from engine import History, TickRecord
from engine.words import Catalogue
from puzzles.words import number, run_name


class PageCount(msgspec.Struct, frozen=True):
    """One run in the tick in which most slots are allocated; slots and tokens. ``pages`` None: contiguous.

    ``unused`` is allocated − reserved (rounding up, or the length every request is given); ``empty`` is
    allocated − written in that tick. ``together`` is the most requests that were admitted at a time.
    """

    run: str
    title: str
    tick: int
    pages: int | None
    allocated: int
    reserved: int
    unused: int
    empty: int
    together: int
    worst_ttft: str


def page_counts(histories: Mapping[str, History], words: Catalogue) -> tuple[PageCount, ...]:
    """A line per run."""
    return tuple(_count(name, history, words) for name, history in histories.items())


def pages_of(record: TickRecord) -> int:
    """Pages (contiguous: slots) that some request has at the end of the tick."""
    return len({page for table in record.pages.values() for page in table})


def _count(name: str, history: History, words: Catalogue) -> PageCount:
    fullest = max(history.records, key=pages_of)
    pages = pages_of(fullest)
    paged = history.service.kv_layout == "paged"
    size = history.service.page_size if paged else 1
    worst = max(metrics.ttft or 0.0 for metrics in history.metrics().requests.values())
    return PageCount(
        run=name,
        title=run_name(name, words),
        tick=fullest.tick,
        pages=pages if paged else None,
        allocated=pages * size,
        reserved=fullest.reserved,
        unused=pages * size - fullest.reserved,
        empty=pages * size - fullest.written,
        together=max(len(record.active) for record in history.records),
        worst_ttft=number(worst),
    )
