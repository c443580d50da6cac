"""Traces and settings that the property tests draw."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import strategies as st

from engine import InputError, Request, Service, Stalled, simulate
from engine.history import History

ARRIVALS = st.integers(0, 80).map(lambda hundredths: Decimal(hundredths) / 100)
REQUESTS = st.lists(st.tuples(ARRIVALS, st.integers(1, 30), st.integers(1, 8)), min_size=1, max_size=6).map(
    lambda rows: [Request(f"R{n:02}", *row) for n, row in enumerate(rows, 1)]
)


@st.composite
def services(draw: st.DrawFn) -> Service:
    """Any service that can be built."""
    on_demand = draw(st.booleans())
    return Service(
        policy=draw(st.sampled_from(("immediate", "static", "continuous"))),
        tick=draw(st.sampled_from(("0.1", "0.25", "1.0"))),
        prefill_budget=draw(st.integers(4, 24)),
        decode_slots=draw(st.integers(1, 4)),
        batch_size=draw(st.integers(1, 4)),
        max_wait=draw(st.sampled_from(("0", "0.3"))),
        page_size=draw(st.integers(1, 6)),
        pages=draw(st.integers(6, 20)),
        kv_reserve="on_demand" if on_demand else "full",
        kv_layout="paged"
        if on_demand
        else draw(st.sampled_from(("paged", "contiguous", "contiguous_exact"))),
        chunked_prefill=draw(st.booleans()),
    )


@st.composite
def histories(draw: st.DrawFn) -> History:
    """A run of any trace under any service."""
    requests, service = draw(REQUESTS), draw(services())
    try:
        return simulate(requests, service)
    except (Stalled, InputError):
        return simulate(requests, Service())
