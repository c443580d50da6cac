"""The plain values that flow: Reason, Plan, Outcome, TickRecord.

One TickRecord is what the command line, the worker pipe, the page and the static pages all use.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec


class Reason(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why something does not (or does) go on: a code of ``reasons.CODES`` and its figures.

    ``by`` names the requests in the way, ``have`` and ``need`` are counts whose unit the code gives.
    """

    code: str
    by: tuple[str, ...] = ()
    have: int | None = None
    need: int | None = None


class Decode(msgspec.Struct, frozen=True):
    """One decode step: the token at ``position`` is fed, its K/V written, the next token emitted.

    Up to ``drafts`` further tokens may be guessed and checked in the same forward.
    """

    id: str
    position: int
    drafts: int = 0


class Chunk(msgspec.Struct, frozen=True):
    """``count`` prompt tokens from ``start``; ``last`` when the prompt is complete after them."""

    id: str
    start: int
    count: int
    recompute: bool
    last: bool


class Plan(msgspec.Struct, frozen=True):
    """What tick number ``tick`` does, from ``tick`` · the length of a tick on.

    ``arrived`` … ``preempted`` are the ids of those to whom it happens in this tick, ``cancelled`` and
    ``failed`` of those who ended since the last one. ``tables`` maps each working request to its
    pages, in order of its tokens. ``hits`` and ``blocked`` are those of the TickRecord.
    """

    tick: int
    decode: tuple[Decode, ...]
    prefill: tuple[Chunk, ...]
    tables: dict[str, tuple[int, ...]]
    arrived: tuple[str, ...]
    cancelled: tuple[str, ...]
    failed: tuple[str, ...]
    refused: tuple[str, ...]
    admitted: tuple[str, ...]
    preempted: tuple[str, ...]
    hits: tuple[tuple[str, int], ...]
    blocked: tuple[tuple[str, Reason], ...]

    @property
    def has_work(self) -> bool:
        """Whether anything is to be computed."""
        return bool(self.decode or self.prefill)

    @property
    def working(self) -> list[str]:
        """Ids that take part in this tick's forward."""
        return [step.id for step in self.decode] + [chunk.id for chunk in self.prefill]

    @property
    def starts(self) -> list[tuple[str, int]]:
        """(id, position of the first token that is fed) of those that take part."""
        decodes = [(step.id, step.position) for step in self.decode]
        return decodes + [(chunk.id, chunk.start) for chunk in self.prefill]

    @property
    def emitting(self) -> list[str]:
        """Ids that emit in this tick: the decoded, then those whose prompt is complete."""
        return [step.id for step in self.decode] + [chunk.id for chunk in self.prefill if chunk.last]


class Work(msgspec.Struct, frozen=True):
    """What an executor really did: forwards, tokens fed, analytic FLOPs, measured milliseconds.

    ``draft_forwards`` and ``draft_ms`` (part of ``ms``) are what guessing tokens cost.
    """

    forwards: int
    tokens: int
    flops: int
    ms: float
    draft_forwards: int = 0
    draft_ms: float = 0.0


class Result(msgspec.Struct, frozen=True):
    """What one request got: accepted tokens, and a finish reason when it ends before its length.

    ``failed`` means that the work planned for it was not done. Of ``drafted`` guessed tokens the first
    ``accepted`` were right.
    """

    tokens: tuple[int | None, ...]
    finish: str | None = None
    drafted: int = 0
    accepted: int = 0


class Outcome(msgspec.Struct, frozen=True):
    """The executor's answer to a Plan: a Result per emitting id, and the work done (None: ledger).

    A request that has failed in the middle of its prompt has a Result too.
    """

    results: dict[str, Result]
    work: Work | None = None

    @property
    def failed(self) -> list[str]:
        """Ids whose work was not done."""
        return [key for key, result in self.results.items() if result.finish == "failed"]


class TickRecord(msgspec.Struct, frozen=True):
    """Everything that happened in one tick.

    ``waiting`` and ``active`` are taken after this tick's admission; an active request holds a
    place (under static also after it has finished). ``pages``, ``reserved``, ``held``, ``written``
    (tokens), ``free`` and ``cached`` (pages, None when unlimited) are taken at the end of the tick,
    after emission and before release. ``blocked`` has the reason of the head of the queue, of each
    active request that did not progress, and of each refused one. ``finished`` is (id, reason); one
    that failed since the last tick is listed with reason failed, and is no longer active. ``emitted``
    is (id, index, token), token None in the ledger; ``decode`` is (id, tokens), ``prefill`` (id, start,
    tokens, recompute).
    ``pages`` is each block table, page numbers in order of the tokens (slots of contiguous KV), and
    ``page_events`` is (kind, page, id), as they happened (``kv.pages.PageEvent`` lists the kinds).
    ``hits`` is (id, tokens found in the prefix cache) per admission, with the cache on; ``drafts`` is
    (id, guessed, accepted) per speculative step.
    """

    tick: int
    arrived: tuple[str, ...]
    cancelled: tuple[str, ...]
    refused: tuple[str, ...]
    admitted: tuple[str, ...]
    preempted: tuple[str, ...]
    decode: tuple[tuple[str, int], ...]
    prefill: tuple[tuple[str, int, int, bool], ...]
    emitted: tuple[tuple[str, int, int | None], ...]
    finished: tuple[tuple[str, str], ...]
    waiting: tuple[str, ...]
    active: tuple[str, ...]
    blocked: tuple[tuple[str, Reason], ...]
    pages: dict[str, tuple[int, ...]]
    page_events: tuple[tuple[str, int, str], ...]
    reserved: int
    held: int
    written: int
    free: int | None
    cached: int
    work: Work | None = None
    hits: tuple[tuple[str, int], ...] = ()
    drafts: tuple[tuple[str, int, int], ...] = ()

    def without_work(self) -> TickRecord:
        """The same tick without what was measured, for comparing runs."""
        return msgspec.structs.replace(self, work=None)

    def without_tokens(self) -> TickRecord:
        """The same tick without token values and measurements, for comparing ledger and engine."""
        emitted = tuple((key, index, None) for key, index, _ in self.emitted)
        return msgspec.structs.replace(self, emitted=emitted, work=None)


def make_record(
    plan: Plan,
    outcome: Outcome,
    emitted: list[tuple[str, int, int | None]],
    finished: list[tuple[str, str]],
    usage: dict[str, Any],
    events: tuple[tuple[str, int, str], ...],
) -> TickRecord:
    """The record of a tick; ``usage`` holds its queues, pages and tokens as they were at its end."""
    counts = Counter(key for key, _, _ in emitted)
    return TickRecord(
        tick=plan.tick,
        arrived=plan.arrived,
        cancelled=plan.cancelled,
        refused=plan.refused,
        admitted=plan.admitted,
        preempted=plan.preempted,
        decode=tuple((step.id, counts[step.id]) for step in plan.decode),
        prefill=tuple((c.id, c.start, c.count, c.recompute) for c in plan.prefill),
        emitted=tuple(emitted),
        finished=(*((key, "failed") for key in plan.failed), *finished),
        blocked=plan.blocked,
        page_events=events,
        work=outcome.work,
        hits=plan.hits,
        drafts=tuple((key, r.drafted, r.accepted) for key, r in outcome.results.items() if r.drafted),
        **usage,
    )


def to_json(value: Any) -> bytes:
    """``value`` as JSON; tuples become arrays, decimals become strings."""
    return msgspec.json.encode(value)
