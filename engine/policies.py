"""The small rules: who may be admitted, who decodes, who prefills. Pure functions of the queues."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from collections.abc import Sequence as Series
from dataclasses import dataclass
from typing import Any

from engine.records import Chunk, Reason
from engine.sequence import Sequence
from engine.service import Service


@dataclass(slots=True)
class Door:
    """What an admission rule may look at: the service, who is inside, who came in just now, who waits."""

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
    if door.entered or full or door.tick >= door.waiting[0].due or not door.more_to_come:
        return None
    return Reason("filling_batch", have=len(door.waiting), need=service.batch_size)


def continuous(door: Door) -> Reason | None:
    """At every tick, while ``max_active`` allows."""
    limit = door.service.max_active
    if limit is None or len(door.active) < limit:
        return None
    return Reason("max_active", have=len(door.active), need=limit)


ADMISSION: dict[str, Callable[[Door], Reason | None]] = {
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
QUEUE_ORDER: dict[str, Callable[[Sequence], Rank]] = {
    "priority": lambda sequence: (-sequence.request.priority,),
    "shortest": lambda sequence: (sequence.reserved,),
}


def passed_over_too_often(service: Service, sequence: Sequence) -> bool:
    """Whether it is its turn whatever the order says."""
    return service.max_skip is not None and sequence.skipped >= service.max_skip


def decode_rank(service: Service, sequence: Sequence) -> Rank:
    """Lowest decodes first: who was passed over too often (the longest of all first), then by the order."""
    skipped = sequence.skipped if passed_over_too_often(service, sequence) else 0
    return (-skipped, *DECODE_ORDER[service.decode_order](sequence))


def queue_rank(service: Service, sequence: Sequence) -> tuple[Any, ...]:
    """Lowest is the head: preempted ones in their order, who was passed over too often, then by the order."""
    if sequence.preemptions:
        return 0, sequence.order
    place = (sequence.request.arrival, sequence.place)
    if passed_over_too_often(service, sequence):
        return 1, *place
    return 2, *QUEUE_ORDER[service.queue_order](sequence), *place


def order_queue(service: Service, waiting: deque[Sequence]) -> None:
    """Sort the queue by ``queue_order``; under fcfs it is in order already."""
    if service.queue_order == "fcfs":
        return
    ordered = sorted(waiting, key=lambda sequence: queue_rank(service, sequence))
    waiting.clear()
    waiting.extend(ordered)


def unfinished(active: Series[Sequence]) -> tuple[str, ...]:
    """Keys of the active requests that have not finished."""
    return tuple(sequence.key for sequence in active if sequence.finish is None)


def choose_decodes(service: Service, active: Series[Sequence]) -> tuple[list[Sequence], dict[str, Reason]]:
    """Who decodes in this tick, in order, and why each other ready request does not."""
    ready = sorted((s for s in active if s.ready), key=lambda s: decode_rank(service, s))
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
    budget = service.prefill_budget
    if service.shared_budget is not None:
        budget = min(budget, service.shared_budget - len(decoding))
    queue = [s for s in active if s.remaining]
    if not service.chunked_prefill:
        queue.sort(key=lambda s: not s.started)  # one that has started goes on first
    chunks: list[Chunk] = []
    whys: dict[str, Reason] = {}
    left = budget
    for place, sequence in enumerate(queue):
        if not left:
            whys.update((s.key, _budget_gone(s, chunks, decoding)) for s in queue[place:])
            break
        if not service.chunked_prefill and chunks and not sequence.started and sequence.remaining > left:
            whys[sequence.key] = Reason("whole_prompt", have=left, need=sequence.remaining)
            whys.update((s.key, Reason("prefill_behind", by=(sequence.key,))) for s in queue[place + 1 :])
            break
        chunks.append(_chunk(sequence, min(left, sequence.remaining)))
        left -= chunks[-1].count
    return chunks, whys


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
