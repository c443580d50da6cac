"""Known wrong pictures of serving: what each would answer, computed on the trace at hand.

``number`` is the place of a belief in the lab's list of what learners get wrong. A belief that gives
the right value on some field says nothing there and is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

import msgspec

from engine import Metrics, Request, Service
from engine.kv.pages import pages_for
from engine.measuring.metrics import RequestMetrics
from puzzles.asking import Field
from puzzles.measures import megabytes
from puzzles.solving import ledger
from puzzles.words import exact

Requests = tuple[Request, ...]
Wrong = Callable[[Service, Requests, Field], tuple[Fraction, ...]]


class Belief(msgspec.Struct, frozen=True):
    """``wrong`` gives the values a holder would answer for a field of one of ``metrics``.

    ``rule`` names the evidence that refutes it (see evidence.py); its texts are ``belief.<name>``.
    """

    name: str
    number: int | None
    metrics: tuple[str, ...]
    wrong: Wrong
    rule: str


@lru_cache(maxsize=512)
def measured(service: Service, requests: Requests) -> Metrics:
    """The metrics of a trace in the ledger."""
    return ledger(requests, service).metrics()


def _of(service: Service, requests: Requests, field: Field) -> RequestMetrics:
    """What the request of ``field`` really gets."""
    return measured(service, requests).requests[field.request or ""]


def _length(requests: Requests, field: Field) -> Request:
    return next(request for request in requests if request.id == field.request)


# ---- definitions ---------------------------------------------------------------------------


def tpot_from_arrival(service: Service, requests: Requests, field: Field) -> tuple[Fraction, ...]:
    """E2E divided by the tokens: the wait leaks in."""
    e2e = _of(service, requests, field).e2e
    return () if e2e is None else (exact(e2e) / _length(requests, field).output_tokens,)


def tpot_by_tokens(service: Service, requests: Requests, field: Field) -> tuple[Fraction, ...]:
    """The time after the first token divided by all tokens, the first included."""
    tpot = _of(service, requests, field).tpot
    tokens = _length(requests, field).output_tokens
    return () if tpot is None else (exact(tpot) * (tokens - 1) / tokens,)


def ttft_is_prefill(service: Service, requests: Requests, field: Field) -> tuple[Fraction, ...]:
    """The ticks its own prompt takes, and nothing before them."""
    ticks = -(-_length(requests, field).prompt_tokens // service.prefill_budget)
    return (Fraction(service.tick) * ticks,)


def short_prompt(service: Service, requests: Requests, field: Field) -> tuple[Fraction, ...]:
    """TTFT in proportion to the prompt."""
    return (Fraction(service.tick) * _length(requests, field).prompt_tokens / service.prefill_budget,)


def clock_from_zero(service: Service, requests: Requests, field: Field) -> tuple[Fraction, ...]:
    """The moment of the first token, with the arrival forgotten."""
    ttft = _of(service, requests, field).ttft
    return () if ttft is None else (exact(ttft) + Fraction(_length(requests, field).arrival),)


def pace_of_service(service: Service, requests: Requests, field: Field) -> tuple[Fraction, ...]:
    """One over the tokens per second of the whole service."""
    throughput = measured(service, requests).summary.throughput
    return (1 / Fraction(throughput),) if throughput else ()


# ---- batching --------------------------------------------------------------------------------


def faster_tokens(service: Service, requests: Requests, field: Field) -> tuple[Fraction, ...]:
    """Three slots, so a token three times as often."""
    if service.policy != "continuous":
        return ()
    return (Fraction(service.tick) / service.decode_slots,)


def static_is_continuous(service: Service, requests: Requests, field: Field) -> tuple[Fraction, ...]:
    """What continuous batching would give."""
    if service.policy != "static":
        return ()
    ttft = _of(service.replace(policy="continuous", max_active=None), requests, field).ttft
    return () if ttft is None else (exact(ttft),)


def seat_is_freed(service: Service, requests: Requests, field: Field) -> tuple[Fraction, ...]:
    """What a batch that is refilled when a member finishes would give."""
    batch = refilled_batch(service, requests) if service.policy == "static" else None
    if batch is None:
        return ()
    start, seats = batch
    held = tuple(msgspec.structs.replace(r, arrival=max(r.arrival, start)) for r in requests)
    refilled = service.replace(policy="continuous", max_active=seats)
    ttft = _of(refilled, held, field).ttft
    late = max(start - _length(requests, field).arrival, Decimal(0))
    return () if ttft is None else (exact(ttft) + Fraction(late),)


def refilled_batch(service: Service, requests: Requests) -> tuple[Decimal, int] | None:
    """Start (s) and seats of the first batch in which a finished request keeps a seat while others wait."""
    start, seats = Decimal(0), 0
    for record in ledger(requests, service).records:
        if record.admitted:
            start, seats = record.tick * service.tick, len(record.active)
        held = any(reason.code == "seat_held" for _, reason in record.blocked)
        if held and record.waiting:
            return start, seats
    return None


def scale_only(service: Service, requests: Requests, field: Field) -> tuple[Fraction, ...]:
    """The value of the usual tick, scaled: a slower machine makes everything slower by the same factor."""
    usual = Service().tick
    if service.tick == usual:
        return ()
    found = getattr(_of(service.replace(tick=usual), requests, field), field.metric)
    return () if found is None else (exact(found) * Fraction(service.tick) / Fraction(usual),)


# ---- KV ----------------------------------------------------------------------------------------


def sum_of_all(service: Service, requests: Requests, field: Field) -> tuple[Fraction, ...]:
    """The prompts and outputs of the whole trace, as if all were there at once."""
    return (megabytes(sum(r.prompt_tokens + r.output_tokens for r in requests), service),)


def kv_is_one_number(service: Service, requests: Requests, field: Field) -> tuple[Fraction, ...]:
    """Another of the three figures: reserved, held, written (at the end, or after prefill)."""
    if field.metric == "peak_mb":
        summary = measured(service, requests).summary
        tokens = [summary.peak_reserved_tokens, summary.peak_written_tokens]
    else:
        request = _length(requests, field)
        tokens = [request.prompt_tokens + request.output_tokens - 1, request.prompt_tokens]
    return tuple(megabytes(count, service) for count in tokens)


def pages_are_tokens(service: Service, requests: Requests, field: Field) -> tuple[Fraction, ...]:
    """Whole pages: the slots that are allocated."""
    if field.metric == "peak_mb":
        pages = measured(service, requests).summary.peak_pages
    else:
        request = _length(requests, field)
        pages = pages_for(request.prompt_tokens + request.output_tokens, service.page_size)
    return (megabytes(pages * service.page_size, service),)


KV = ("kv_mb", "peak_mb")

BELIEFS = {
    belief.name: belief
    for belief in (
        Belief("tpot_from_arrival", 1, ("tpot",), tpot_from_arrival, "tokens"),
        Belief("tpot_by_tokens", 1, ("tpot",), tpot_by_tokens, "tokens"),
        Belief("ttft_is_prefill", 4, ("ttft",), ttft_is_prefill, "waits"),
        Belief("short_prompt", 5, ("ttft",), short_prompt, "waits"),
        Belief("pace_of_service", 6, ("tpot",), pace_of_service, "crowd"),
        Belief("clock_from_zero", None, ("ttft",), clock_from_zero, "waits"),
        Belief("faster_tokens", 18, ("tpot",), faster_tokens, "crowd"),
        Belief("static_is_continuous", 19, ("ttft",), static_is_continuous, "waits"),
        Belief("seat_is_freed", 20, ("ttft",), seat_is_freed, "seats"),
        Belief("scale_only", 23, ("tpot", "ttft"), scale_only, "contest"),
        Belief("sum_of_all", 33, KV, sum_of_all, "kv"),
        Belief("kv_is_one_number", 34, KV, kv_is_one_number, "kv"),
        Belief("pages_are_tokens", 36, KV, pages_are_tokens, "kv"),
    )
}
