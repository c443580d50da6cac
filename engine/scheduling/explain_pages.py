"""Why a page is as it is at the end of a tick: one Reason for each page, derived from the records.

A page is free, kept for reuse, taken and not written, or written. Its last event tells how it came to be so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from engine.measuring.progress import Stored, walk
from engine.records import Reason, TickRecord
from engine.service import Service

GAVE_BACK = {"free": "page_given_back", "preempt": "page_taken_away", "cache": "page_cached"}


@dataclass
class Past:
    """What has happened to the pages so far: who left each last, and since when each is taken."""

    left: dict[int, Reason] = field(default_factory=dict)
    taken: dict[int, int] = field(default_factory=dict)

    def note(self, record: TickRecord) -> None:
        """Take in the events of a tick."""
        for kind, page, key in record.page_events:
            if kind in GAVE_BACK:
                self.left[page] = Reason(GAVE_BACK[kind], by=(key,), have=record.tick)
            elif kind == "allocate":
                self.taken[page] = record.tick


def explain_pages(records: Iterable[TickRecord], service: Service) -> Iterator[dict[int, Reason]]:
    """Of each tick: the Reason of every page that has one; a page without was never taken.

    With contiguous KV a page is a slot. A request that finishes still owns its pages in its last tick.
    """
    size = service.page_size if service.kv_layout == "paged" else 1
    past = Past()
    for record, stored in walk(records):
        past.note(record)
        yield past.left | dict(_owned(record, stored, size, past.taken))


def _owned(
    record: TickRecord, stored: dict[str, Stored], size: int, taken: dict[int, int]
) -> Iterator[tuple[int, Reason]]:
    """The pages of the tables."""
    places: dict[int, tuple[str, ...]] = {}
    for key, table in record.pages.items():
        for place, page in enumerate(table):
            by = places[page] = (*places.get(page, ()), key)
            written = min(size, stored[key].written - place * size)
            yield page, _taken(by, written, size, taken.get(page, record.tick))


def _taken(by: tuple[str, ...], written: int, size: int, since: int) -> Reason:
    if len(by) > 1:
        return Reason("page_shared", by=by, have=written, need=size)
    if written > 0:
        return Reason("page_written", by=by, have=written, need=size)
    return Reason("page_reserved", by=by, have=since)
