"""The life of one request as ticks, told by the records or in stretches."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.records import Reason, TickRecord
from engine.requests import Request


@dataclass(slots=True)
class Life:
    """One request as tick numbers. A token of tick k is stamped (k + 1) · tick.

    ``start`` is the first tick that processed its prompt, ``ended`` the tick in which it finished, or
    at whose start it was cancelled or had failed. ``runs`` are its tokens: (first tick, how many ticks
    in a row gave one each). ``reason`` says how it finished, ``refusal`` why it was refused.
    ``stalled`` counts the ticks from each preemption to the next token. ``recomputed_tokens`` had been
    written when a preemption took them; ``again`` counts those that have been computed once more: fewer
    when the prefix cache still has them, or the request never gets that far.
    """

    request: Request
    arrived: int | None = None
    admitted: int | None = None
    start: int | None = None
    runs: list[tuple[int, int]] = field(default_factory=list)
    ended: int | None = None
    status: str = "waiting"
    reason: str | None = None
    refusal: Reason | None = None
    preempted: int = 0
    recomputed_tokens: int = 0
    again: int = 0
    stalled: int = 0
    lost_at: int | None = None
    written: int = 0  # tokens whose K/V is stored
    most_lost: int = 0  # the largest ``written`` at a preemption

    @property
    def tokens(self) -> list[int]:
        """The tick of each token, in order."""
        return [tick for first, count in self.runs for tick in range(first, first + count)]

    @property
    def token_count(self) -> int:
        """Tokens delivered."""
        return sum(count for _, count in self.runs)

    def add_tokens(self, first: int, count: int = 1) -> None:
        """``count`` tokens, one per tick from tick ``first`` on."""
        if self.lost_at is not None:
            self.stalled, self.lost_at = self.stalled + first + 1 - self.lost_at, None
        before, so_far = self.runs[-1] if self.runs else (-1, 0)
        if before + so_far == first:
            self.runs[-1] = (before, so_far + count)
        else:
            self.runs.append((first, count))


def note(record: TickRecord, found: dict[str, Life]) -> None:
    """Enter one tick into the lives of those it concerns."""
    _note_queue(record, found)
    for key, start, count, _ in record.prefill:
        life = found[key]
        life.start = record.tick if life.start is None else life.start
        life.written = start + count
        life.again += max(0, min(life.written, life.most_lost) - start)
    for key, count in record.decode:
        found[key].written += count
    for key, _, _ in record.emitted:
        found[key].add_tokens(record.tick)
    for key, reason in record.finished:
        life = found[key]
        life.ended, life.reason = record.tick, reason
        life.status = "failed" if reason == "failed" else "finished"


def _note_queue(record: TickRecord, found: dict[str, Life]) -> None:
    """Who came, left, was taken in or thrown out."""
    for key in record.arrived:
        found[key].arrived, found[key].status = record.tick, "waiting"
    whys = dict(record.blocked) if record.refused else {}
    for key in record.refused:
        found[key].status, found[key].refusal = "refused", whys[key]
    for key in record.cancelled:
        found[key].ended, found[key].status = record.tick, "cancelled"
    for key in record.preempted:
        life = found[key]
        life.preempted, life.status = life.preempted + 1, "waiting"
        life.most_lost = max(life.most_lost, life.written)
        life.recomputed_tokens, life.written = life.recomputed_tokens + life.written, 0
        life.lost_at = record.tick if life.lost_at is None else life.lost_at
    for key in record.admitted:
        life = found[key]
        life.admitted = record.tick if life.admitted is None else life.admitted
        life.status = "active"
