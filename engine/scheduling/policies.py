"""The small rules: who may be admitted, who decodes, who prefills. Pure functions of the queues."""

from __future__ import annotations

from bisect import insort
from collections import deque
from collections.abc import Callable, Iterable
from collections.abc import Sequence as Series
from dataclasses import dataclass
from typing import Any

from engine.records import Chunk, Reason
from engine.scheduling.sequence import Sequence
from engine.service import Service


@dataclass(slots=True)
class Door:
    """What an admission rule may look at, and may not change, when the head of the queue is at the door.

    ``active`` are those inside, in order of admission (under static also the finished members of the
    batch), among them ``entered``, who came in in this tick; ``waiting`` is the queue, never empty, its
    head first. ``more_to_come`` is False once a trace is closed and everybody has arrived.
    """

    service: Service
    tick: int
    active: Series[Sequence]
    entered: Series[Sequence]
    waiting: Series[Sequence]
    more_to_come: bool


def immediate(door: Door) -> Reason | None:
    """One at a time, run to completion."""
    return Reason("one_at_a_time", by=(door.active[0].key,)) if door.active else None


def static(door: Door) -> Reason | None:
    """A batch starts when full, when its oldest has waited long enough, or when no more are to come."""
    service = door.service
    if len(door.active) > len(door.entered) or len(door.entered) >= service.batch_size:
        return Reason("batch_closed", by=unfinished(door.active))
    full = len(door.waiting) >= service.batch_size
    if door.entered or full or door.tick >= oldest_due(door.waiting) or not door.more_to_come:
        return None
    return Reason("filling_batch", have=len(door.waiting), need=service.batch_size)


def continuous(door: Door) -> Reason | None:
    """At every tick, while ``max_active`` allows."""
    limit = door.service.max_active
    if limit is None or len(door.active) < limit:
        return None
    return Reason("max_active", have=len(door.active), need=limit)


def oldest_due(waiting: Iterable[Sequence]) -> int:
    """The first tick at which the oldest of ``waiting`` has waited ``max_wait``; it need not be the head."""
    return min(sequence.due for sequence in waiting)


Admission = Callable[[Door], Reason | None]
"""Why the head of the queue is not let in now, None when it is. It is asked before each admission of a tick;
whether the pages suffice is not its business. When nothing is active and no more are to come it must
let the head in: else the run ends as Stalled.
"""

ADMISSION: dict[str, Admission] = {
    "immediate": immediate,
    "static": static,
    "continuous": continuous,
}

Rank = tuple[int, ...]

# Ranks end in the order of admission or of arrival, so that nothing is left to chance.
DECODE_ORDER: dict[str, Callable[[Sequence], Rank]] = {
    "fcfs": lambda sequence: (sequence.order,),
    "round_robin": lambda sequence: (sequence.advanced, sequence.order),
    "shortest": lambda sequence: (sequence.left, sequence.order),
    "priority": lambda sequence: (-sequence.request.priority, sequence.order),
}
STARVING = ("shortest", "priority")  # newcomers may go first for ever, unless max_skip is set
QUEUE_ORDER: dict[str, Callable[[Sequence], Rank]] = {
    "priority": lambda sequence: (-sequence.request.priority,),
    "shortest": lambda sequence: (sequence.reserved,),
}


def passed_over_too_often(service: Service, sequence: Sequence) -> bool:
    """Whether it is its turn whatever the order says."""
    return service.max_skip is not None and sequence.skipped >= service.max_skip


def decode_rank(service: Service, sequence: Sequence) -> Rank:
    """Lowest decodes first: by the order, and where that can starve somebody, who was passed over too
    often before the others, the longest of all first."""
    aged = service.decode_order in STARVING and passed_over_too_often(service, sequence)
    return (-sequence.skipped if aged else 0, *DECODE_ORDER[service.decode_order](sequence))


def queue_rank(service: Service, sequence: Sequence) -> tuple[Any, ...]:
    """Lowest is the head: preempted ones in their order, who was passed over too often, then by the order."""
    if sequence.preemptions:
        return 0, sequence.order
    place = (sequence.request.arrival, sequence.place)
    if passed_over_too_often(service, sequence):
        return 1, *place
    return 2, *QUEUE_ORDER[service.queue_order](sequence), *place


def join_queue(service: Service, waiting: deque[Sequence], sequence: Sequence) -> None:
    """Let ``sequence``, which has just arrived, into the queue at its place by ``queue_order``."""
    if service.queue_order == "fcfs":
        waiting.append(sequence)
    else:
        insort(waiting, sequence, key=lambda member: queue_rank(service, member))


def pass_over(service: Service, waiting: deque[Sequence], entered: Sequence) -> None:
    """Count that ``entered`` went past those who came before it, and let who has had enough go first."""
    if service.queue_order == "fcfs" or service.max_skip is None:
        return  # nobody is left behind, or nobody minds
    enough = False
    for sequence in waiting:
        if sequence.place < entered.place:
            sequence.skipped += 1
            enough |= sequence.skipped == service.max_skip
    if enough:  # else nobody's rank has changed
        ordered = sorted(waiting, key=lambda sequence: queue_rank(service, sequence))
        waiting.clear()
        waiting.extend(ordered)


def unfinished(active: Series[Sequence]) -> tuple[str, ...]:
    """Keys of the active requests that have not finished."""
    return tuple(sequence.key for sequence in active if sequence.finish is None)


def choose_decodes(service: Service, active: Series[Sequence]) -> tuple[list[Sequence], dict[str, Reason]]:
    """Who decodes in this tick, in order, and why each other ready request does not."""
    ready = [s for s in active if s.ready]
    if service.decode_order != "fcfs":  # else they are in order
        ready.sort(key=lambda s: decode_rank(service, s))
    shared = service.shared_budget
    room = service.decode_slots if shared is None else min(service.decode_slots, shared)
    chosen, left_out = ready[:room], ready[room:]
    code = "no_slot" if room == service.decode_slots else "shared_budget"
    why = Reason(code, by=tuple(s.key for s in chosen), have=room, need=len(ready))
    return chosen, {s.key: why for s in left_out}


def choose_prefill(
    service: Service, active: Series[Sequence], decoding: Series[Sequence]
) -> tuple[list[Chunk], dict[str, Reason]]:
    """This tick's prompt chunks, and why each other request with an unprocessed prompt got none."""
    queue = [s for s in active if s.remaining]
    chunks, left = share_prefill(service, queue, len(decoding))
    rest = queue[len(chunks) :]
    if not left:
        return chunks, {s.key: _budget_gone(s, chunks, decoding) for s in rest}
    whys = {s.key: Reason("prefill_behind", by=(rest[0].key,)) for s in rest}
    if rest:
        whys[rest[0].key] = Reason("whole_prompt", have=left, need=rest[0].remaining)
    return chunks, whys


def share_prefill(service: Service, queue: list[Sequence], decodes: int) -> tuple[list[Chunk], int]:
    """Chunks for the first of ``queue`` (in admission order, prompts unprocessed), and the budget left.

    Without chunked prefill, ``queue`` is sorted so that one that has started goes on first.
    """
    left = service.prefill_budget
    if service.shared_budget is not None:
        left = min(left, service.shared_budget - decodes)
    if not service.chunked_prefill:
        queue.sort(key=lambda s: not s.started)
    chunks: list[Chunk] = []
    for sequence in queue:
        whole = not service.chunked_prefill and chunks and not sequence.started
        if not left or (whole and sequence.remaining > left):
            break
        chunks.append(_chunk(sequence, min(left, sequence.remaining)))
        left -= chunks[-1].count
    return chunks, left


def choose_drafts(
    service: Service, decoding: Series[Sequence], chunks: Series[Chunk]
) -> list[tuple[Sequence, int]]:
    """How many tokens each decode may guess: no more than it may still emit, and, with a shared budget,
    only from what decodes and prefill left of it."""
    wanted = service.speculate or 0
    spare: int | None = None
    if service.shared_budget is not None:
        spare = service.shared_budget - len(decoding) - sum(chunk.count for chunk in chunks)
    found = []
    for sequence in decoding:
        drafts = min(wanted, sequence.left - 1, wanted if spare is None else spare)
        spare = None if spare is None else spare - drafts
        found.append((sequence, drafts))
    return found


def _chunk(sequence: Sequence, count: int) -> Chunk:
    last = count == sequence.remaining
    return Chunk(sequence.key, sequence.processed, count, sequence.preemptions > 0, last)


def _budget_gone(sequence: Sequence, chunks: list[Chunk], decoding: Series[Sequence]) -> Reason:
    """No prefill budget is left: other prompts took it, or, when there are none, the decodes did."""
    if not chunks:
        return Reason("shared_budget", by=tuple(s.key for s in decoding), have=0, need=sequence.remaining)
    return Reason("no_prefill_budget", by=tuple(c.id for c in chunks), have=0, need=sequence.remaining)
