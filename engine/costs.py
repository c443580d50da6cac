"""What preemption costs, and what the prefix cache and speculation give: counts over the records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.progress import Life
from engine.records import TickRecord


def costs(records: Sequence[TickRecord], found: dict[str, Life]) -> dict[str, Any]:
    """The part of the summary about work done twice, found again, or guessed, by name."""
    recomputed = sum(life.recomputed_tokens for life in found.values())
    computed = sum(n for r in records for _, _, n, _ in r.prefill) + sum(
        n for r in records for _, n in r.decode
    )
    return {
        "preemptions": sum(life.preempted for life in found.values()),
        "recomputed_tokens": recomputed,
        "recompute_tax": recomputed / computed if computed else None,
        **_prefix(records, found),
        **_drafts(records),
    }


def _prefix(records: Sequence[TickRecord], found: dict[str, Life]) -> dict[str, Any]:
    """Prompt tokens asked for and found, at each request's first admission only."""
    first: dict[str, int] = {}
    for record in records:
        for key, count in record.hits:
            first.setdefault(key, count)
    return {
        "prefix_queries": sum(found[key].request.prompt_tokens for key in first),
        "prefix_hits": sum(first.values()),
    }


def _drafts(records: Sequence[TickRecord]) -> dict[str, Any]:
    """Rounds of speculation; ``accepted_at`` counts, per position, the rounds that accepted it."""
    rounds = [(guessed, accepted) for record in records for _, guessed, accepted in record.drafts]
    accepted = sum(right for _, right in rounds)
    longest = max((guessed for guessed, _ in rounds), default=0)
    return {
        "draft_rounds": len(rounds),
        "drafted": sum(guessed for guessed, _ in rounds),
        "accepted": accepted,
        "accepted_at": tuple(sum(right > place for _, right in rounds) for place in range(longest)),
        "tokens_per_round": (accepted + len(rounds)) / len(rounds) if rounds else None,
        "draft_ms": sum(record.work.draft_ms for record in records if record.work),
    }
