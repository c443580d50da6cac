"""How long anybody can be kept waiting, as bounds that hold under an endless stream of newcomers.

Ticks in which something is preempted admit nobody, so the bounds are for runs without preemption
(``kv_reserve`` full, or a pool that is large enough). Two settings have no bound without ``max_skip``:
``shortest`` and ``priority``, in the queue and in decode, let newcomers go first for ever.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from engine.exact import first_tick
from engine.requests import Request
from engine.service import Service


def gap_bound(service: Service, active: int, tokens_ahead: int) -> int | None:
    """Ticks from one output token of a request to its next, at most; None where there is no bound.

    ``active`` is the most requests that are active at once, ``tokens_ahead`` the output tokens of
    those admitted before it that are still to come.

    fcfs: whenever it is passed over, all slots go to requests admitted before it.
    round_robin: everybody else advances at most once before it does.
    shortest, priority: passed over ``max_skip`` times, then behind others who were so too.
    """
    slots = slots_for_decode(service)
    if service.decode_order == "fcfs":
        return 1 + tokens_ahead // slots
    if service.decode_order == "round_robin":
        return -(-active // slots)
    if service.max_skip is None:
        return None
    return service.max_skip + -(-active // slots)


def slots_for_decode(service: Service) -> int:
    """Requests that advance in one tick."""
    shared = service.shared_budget
    return service.decode_slots if shared is None else min(service.decode_slots, shared)


def overtakers(service: Service, ahead: int) -> int | None:
    """How many requests are admitted before one that finds ``ahead`` in the queue; None without a bound.

    fcfs: those ahead. Else at most ``max_skip`` later ones go past it, and past each of those ahead.
    """
    if service.queue_order == "fcfs":
        return ahead
    if service.max_skip is None:
        return None
    return ahead + service.max_skip


def service_ticks(service: Service, requests: Iterable[Request]) -> int:
    """Ticks that suffice to serve ``requests`` one after the other, each on its own: prefill and decode."""
    budget = service.prefill_budget
    if service.shared_budget is not None:
        budget = max(1, min(budget, service.shared_budget))
    return sum(-(-r.prompt_tokens // budget) + r.output_tokens for r in requests)


def first_token_bound(service: Service, before: Sequence[Request], request: Request) -> int:
    """Ticks from the arrival of ``request`` to its first token, at most, when ``before`` are all that are
    admitted before it (see ``overtakers``) or active with it, under fcfs decode without shared budget.

    In every tick somebody of ``before`` makes progress, or ``request`` does: work does not idle. Under
    static a batch may be held for ``max_wait``, once per batch.
    """
    held = first_tick(service.max_wait, Fraction(service.tick)) if service.policy == "static" else 0
    batches = len(before) + 1
    return 1 + service_ticks(service, [*before, request]) + held * batches
