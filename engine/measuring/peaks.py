"""The largest figures of a run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from engine.records import TickRecord
from engine.service import Service


@dataclass
class Peaks:
    """Requests that have arrived and are not admitted; KV tokens and pages at the end of a tick."""

    backlog: int = 0
    reserved: int = 0
    held: int = 0
    written: int = 0
    pages: int = 0

    def see_queue(self, waiting: int) -> None:
        """The queue of a tick, after its admission."""
        self.backlog = max(self.backlog, waiting)

    def see_memory(self, reserved: int, held: int, written: int, pages: int) -> None:
        """The memory of a tick at its end, before release."""
        self.reserved = max(self.reserved, reserved)
        self.held = max(self.held, held)
        self.written = max(self.written, written)
        self.pages = max(self.pages, pages)


def used_pages(record: TickRecord, service: Service) -> int:
    """Pages (slots of contiguous KV) that some request names, each counted once."""
    if record.free is None:
        return len({page for table in record.pages.values() for page in table})
    total = service.pages if service.kv_layout == "paged" else service.slots
    return (total or 0) - record.free - record.cached


def peaks_of(records: Iterable[TickRecord], service: Service, begun: int, over: int) -> Peaks:
    """Of the queue in the ticks before ``begun``, of the memory in those before ``over``."""
    peaks = Peaks()
    for record in records:
        if record.tick < begun:
            peaks.see_queue(len(record.waiting))
        if record.tick < over:
            used = used_pages(record, service)
            peaks.see_memory(record.reserved, record.held, record.written, used)
    return peaks
