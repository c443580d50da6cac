"""What the records say about each request: its life as ticks, and its tokens at any tick."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from engine.history import History
from engine.records import Reason, TickRecord
from engine.requests import Request


@dataclass
class Life:
    """One request as tick numbers. A token of tick k is stamped (k + 1) · tick.

    ``start`` is the first tick that processed its prompt, ``ended`` the tick in which it finished, or
    at whose start it was cancelled or had failed.
    """

    request: Request
    arrived: int | None = None
    admitted: int | None = None
    start: int | None = None
    tokens: list[int] = field(default_factory=list)
    ended: int | None = None
    status: str = "waiting"
    reason: str | None = None
    preempted: int = 0
    recomputed_tokens: int = 0
    stalled: int = 0  # ticks from each preemption to the next token
    lost_at: int | None = None


@dataclass
class Stored:
    """Tokens of one request: K/V stored now, delivered so far, stored once and lost to preemption."""

    written: int = 0
    emitted: int = 0
    lost: int = 0


def lives(history: History) -> dict[str, Life]:
    """The life of every request of the run, by key."""
    found = {key: Life(request) for key, request in history.requests.items()}
    for record, stored in walk(history.records):
        _note(record, found)
        for key in record.preempted:
            found[key].recomputed_tokens = stored[key].lost
    return found


def refusals(history: History) -> dict[str, Reason]:
    """Why each refused request was refused, by key."""
    return {key: dict(record.blocked)[key] for record in history.records for key in record.refused}


def _note(record: TickRecord, found: dict[str, Life]) -> None:
    for key in record.arrived:
        found[key].arrived, found[key].status = record.tick, "waiting"
    for key in record.refused:
        found[key].status = "refused"
    for key in record.cancelled:
        found[key].ended, found[key].status = record.tick, "cancelled"
    for key in record.preempted:
        found[key].preempted += 1
        found[key].lost_at = record.tick if found[key].lost_at is None else found[key].lost_at
        found[key].status = "waiting"
    for key in record.admitted:
        life = found[key]
        life.admitted = record.tick if life.admitted is None else life.admitted
        life.status = "active"
    for key, _, _, _ in record.prefill:
        found[key].start = record.tick if found[key].start is None else found[key].start
    for key, _, _ in record.emitted:
        life = found[key]
        life.tokens.append(record.tick)
        if life.lost_at is not None:
            life.stalled, life.lost_at = life.stalled + record.tick + 1 - life.lost_at, None
    for key, reason in record.finished:
        life = found[key]
        life.ended, life.reason = record.tick, reason
        life.status = "failed" if reason == "failed" else "finished"


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
