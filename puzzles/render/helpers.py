"""Small questions the templates ask of a view."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from puzzles.units import digits
from puzzles.views.model import CELL_KINDS, Log, Page, PageFrame, PageMap, Timeline
from puzzles.words import grouped


class Box(NamedTuple):
    """A page as a table prints it, or several free ones in a row (owner None)."""

    owner: str | None
    written: int
    slots: int
    fill: int


def boxes(frame: PageFrame) -> Iterator[Box]:
    """The pool from the left; free pages side by side are one box."""
    for free, group in groupby(frame.pages, key=lambda page: page.owner is None):
        if free:
            yield Box(None, 0, sum(page.slots for page in group), 0)
        else:
            yield from (Box(page.owner, page.written, page.slots, filled(page)) for page in group)


def kinds(view: Timeline) -> list[str]:
    """The kinds of cell that occur and need a legend, in their fixed order."""
    found = {cell.kind for row in view.rows for cell in row.cells}
    return [kind for kind in CELL_KINDS if kind in found and kind != "away"]


def measured(view: Timeline) -> bool:
    """Whether an engine measured any tick."""
    return any(ms is not None for ms in view.ms)


def spoken(view: Log) -> bool:
    """Whether anybody has said a byte."""
    return any(speech.data for frame in view.frames[-1:] for speech in frame.speech)


def slots(view: PageMap) -> int:
    """Slots of the pool, as the widest tick shows them (at least one)."""
    return max((sum(page.slots for page in frame.pages) for frame in view.frames), default=0) or 1


FULL = 12  # steps of the bar in a box; the stylesheet has a rule for each


def filled(page: Page) -> int:
    """How full a page is, in steps: 0 only when nothing is written, FULL only when all is."""
    if page.written in (0, page.slots):
        return FULL * page.written // page.slots
    return min(FULL - 1, max(1, round(FULL * page.written / page.slots)))


def signed(difference: float | None, unit: str) -> str:
    """A difference of values in ``unit``, with its sign; a dash where there is none."""
    if difference is None:
        return "—"
    sign = "−" if difference < 0 else "+" if difference > 0 else "±"
    return f"{sign}{grouped(digits(abs(difference), unit))}"
