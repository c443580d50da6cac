"""Awkward random traces and services for the ledger: contended pools, arrivals on and beside ticks."""

from __future__ import annotations

from decimal import Decimal, localcontext

from hypothesis import strategies as st

from engine import Request, Service

TICKS = ("0.1", "1", "0.04", "0.3", "0.07", "0.333333", "0.3333333333333333333333333333333333", "2.5")
NUDGES = ("0", "0", "0.001", "-0.001", "1e-28")


@st.composite
def arrivals(draw, tick, latest=14):
    """A moment on the edge of a tick, a hair beside it, or with two decimals."""
    if draw(st.booleans()):
        return Decimal(draw(st.integers(0, 200))) / 100
    with localcontext() as context:
        context.prec = 80
        moment = Decimal(tick) * draw(st.integers(0, latest)) + Decimal(draw(st.sampled_from(NUDGES)))
    return max(moment, Decimal(0))


@st.composite
def traces(draw, tick="0.1", most=7, longest_prompt=12, longest_output=8):
    """One to ``most`` requests of counts."""
    lengths = st.tuples(arrivals(tick), st.integers(1, longest_prompt), st.integers(1, longest_output))
    rows = draw(st.lists(lengths, min_size=draw(st.integers(1, most)), max_size=most))
    urgency = st.integers(-1, 2)
    return [Request(f"R{i:02}", *row, priority=draw(urgency)) for i, row in enumerate(rows, 1)]


@st.composite
def services(draw, **fixed):
    """Any settings that make sense together; ``fixed`` ones are kept."""
    found = {
        "policy": draw(st.sampled_from(("immediate", "static", "continuous"))),
        "tick": draw(st.sampled_from(TICKS)),
        "prefill_budget": draw(st.integers(1, 24)),
        "decode_slots": draw(st.integers(1, 4)),
        "batch_size": draw(st.integers(1, 4)),
        "max_wait": draw(st.sampled_from(("0", "0.1", "0.4", "0.999999", "3"))),
        "max_active": draw(st.none() | st.integers(1, 4)),
        "chunked_prefill": draw(st.booleans()),
        "shared_budget": draw(st.none() | st.integers(1, 10)),
        "decode_order": draw(st.sampled_from(("fcfs", "round_robin", "shortest", "priority"))),
        "queue_order": draw(st.sampled_from(("fcfs", "fcfs", "shortest", "priority"))),
        "max_skip": draw(st.none() | st.integers(1, 3)),
        "page_size": draw(st.integers(1, 5)),
        "pages": draw(st.none() | st.integers(1, 16)),
        "kv_reserve": draw(st.sampled_from(("full", "on_demand"))),
        "kv_layout": draw(st.sampled_from(("paged", "paged", "contiguous", "contiguous_exact"))),
        "max_len": draw(st.none() | st.integers(4, 20)),
    }
    found.update(fixed)
    if found["kv_layout"] != "paged":
        found["kv_reserve"] = "full"
        found["pages"] = found["pages"] or 12
    return Service(**found)


@st.composite
def runs(draw, most=7, longest_prompt=12, longest_output=8, **fixed):
    """A trace and a service whose tick its arrivals sit on."""
    service = draw(services(**fixed))
    trace = draw(traces(str(service.tick), most, longest_prompt, longest_output))
    return trace, service


@st.composite
def crowded(draw, **fixed):
    """Several requests at once and little memory, taken on demand: preemption again and again."""
    number = draw(st.integers(3, 7))
    rows = [
        (Decimal(draw(st.integers(0, 3))) / 10, draw(st.integers(1, 5)), draw(st.integers(2, 8)))
        for _ in range(number)
    ]
    trace = [Request(f"R{place:02}", *row) for place, row in enumerate(rows, 1)]
    page_size = draw(st.integers(1, 3))
    largest = max(-(-(prompt + output - 1) // page_size) for _, prompt, output in rows)
    settings = {
        "policy": draw(st.sampled_from(("continuous", "continuous", "static"))),
        "tick": draw(st.sampled_from(("0.1", "0.04", "0.3"))),
        "batch_size": draw(st.integers(2, 4)),
        "decode_slots": draw(st.integers(2, 4)),
        "max_active": None,
        "page_size": page_size,
        "pages": largest + draw(st.integers(0, 3)),
        "kv_reserve": "on_demand",
        "kv_layout": "paged",
    }
    return trace, draw(services(**{**settings, **fixed}))


horizons = st.none() | st.sampled_from(("0.05", "0.33", "1", "2.5", "7"))


@st.composite
def cancellations(draw, trace, latest=20):
    """Some ids, each cancelled just before a tick."""
    chosen = draw(st.lists(st.sampled_from([r.id for r in trace]), unique=True, max_size=3))
    found: dict[int, list[str]] = {}
    for name in chosen:
        found.setdefault(draw(st.integers(0, latest)), []).append(name)
    return found
