"""Random services and traces for property tests: small, contended, and often awkward."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from engine import InputError, Request, Service

TICKS = ("0.1", "1.0", "0.04", "0.3", "0.25")


@st.composite
def traces(
    draw: st.DrawFn, most: int = 7, longest_prompt: int = 12, longest_output: int = 8
) -> list[Request]:
    """One to ``most`` requests with prompts, arriving within about a second."""
    number = draw(st.integers(1, most))
    found = []
    for place in range(number):
        prompt = draw(st.integers(1, longest_prompt))
        output = draw(st.integers(1, longest_output))
        arrival = Decimal(draw(st.integers(0, 120))) / 100
        tokens = tuple((place * 37 + 11 * i) % 256 for i in range(prompt))
        found.append(Request(f"R{place + 1:02}", arrival, prompt, output, tokens))
    return found


@st.composite
def services(draw: st.DrawFn, **fixed: Any) -> Service:
    """Any settings that make sense together; ``fixed`` ones are kept."""
    settings: dict[str, Any] = {
        "policy": draw(st.sampled_from(("immediate", "static", "continuous"))),
        "tick": draw(st.sampled_from(TICKS)),
        "prefill_budget": draw(st.integers(1, 24)),
        "decode_slots": draw(st.integers(1, 4)),
        "batch_size": draw(st.integers(1, 4)),
        "max_wait": draw(st.sampled_from(("0", "0.1", "0.4", "1.5"))),
        "max_active": draw(st.none() | st.integers(1, 4)),
        "chunked_prefill": draw(st.booleans()),
        "shared_budget": draw(st.none() | st.integers(1, 10)),
        "decode_order": draw(st.sampled_from(("fcfs", "round_robin", "shortest"))),
        "page_size": draw(st.integers(1, 5)),
        "pages": draw(st.none() | st.integers(2, 16)),
        "kv_reserve": draw(st.sampled_from(("full", "on_demand"))),
        "kv_layout": draw(st.sampled_from(("paged", "paged", "contiguous", "contiguous_exact"))),
    }
    settings.update(fixed)
    if settings["kv_layout"] != "paged":
        settings["kv_reserve"] = "full"
        settings["pages"] = settings["pages"] or 12
    try:
        return Service(**settings)
    except InputError:
        raise AssertionError(f"the strategy made settings that are refused: {settings}") from None
