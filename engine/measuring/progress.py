"""What the records say about each request: its life, and its tokens at any tick."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from engine.history import History
from engine.measuring.life import Life, note
from engine.records import Reason, TickRecord

__all__ = ["Life", "Stored", "lives", "refusals", "walk"]


@dataclass
class Stored:
    """Tokens of one request: K/V stored now, delivered so far, stored once and lost to preemption."""

    written: int = 0
    emitted: int = 0
    lost: int = 0


def lives(history: History) -> dict[str, Life]:
    """The life of every request of the run, by key."""
    found = {key: Life(request) for key, request in history.requests.items()}
    for record in history.records:
        note(record, found)
    return found


def refusals(history: History) -> dict[str, Reason]:
    """Why each refused request was refused, by key."""
    whys = ((record.refused, dict(record.blocked)) for record in history.records if record.refused)
    return {key: why[key] for refused, why in whys for key in refused}


def walk(records: Iterable[TickRecord]) -> Iterator[tuple[TickRecord, dict[str, Stored]]]:
    """Each record with the tokens of every request at its end. The dictionary is the same, updated."""
    stored: dict[str, Stored] = {}
    for record in records:
        for key in record.arrived:
            stored[key] = Stored()
        for key in record.preempted:
            stored[key].lost += stored[key].written
            stored[key].written = 0
        for key, start, count, _ in record.prefill:
            stored[key].written = start + count
        for key, count in record.decode:
            stored[key].written += count
        for key, _, _ in record.emitted:
            stored[key].emitted += 1
        yield record, stored
