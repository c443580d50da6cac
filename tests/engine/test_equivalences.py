"""The two equivalences of SEMANTICS §2, over many random settings."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import History, Request, Service, simulate
from tests.engine.main_runs import run
from tests.engine.random_runs import horizons, runs


def happenings(history: History, *names: str) -> list[Any]:
    """The records without the reasons (each policy has its own), or only the fields ``names``."""
    if names:
        return [tuple(getattr(record, name) for name in names) for record in history.records]
    return [msgspec.structs.replace(record, blocked=()) for record in history.records]


@given(runs(), horizons)
@settings(max_examples=200, deadline=None)
def test_immediate_is_continuous_with_one_active(
    run: tuple[list[Request], Service], horizon: str | None
) -> None:
    trace, service = run
    one = simulate(trace, service.replace(policy="immediate"), horizon)
    other = simulate(trace, service.replace(policy="continuous", max_active=1), horizon)
    assert happenings(one) == happenings(other)
    assert one.metrics("0.5", "0.15") == other.metrics("0.5", "0.15")


@given(st.decimals(Decimal("0.04"), Decimal("3"), places=4), st.integers(3, 6))
@settings(max_examples=200, deadline=None)
def test_continuous_with_memory_for_32_tokens_is_static(tick: Decimal, batch_size: int) -> None:
    continuous = run(tick=tick, page_size=1, pages=32)
    static = run(tick=tick, policy="static", batch_size=batch_size)
    what = ("tick", "admitted", "decode", "prefill", "emitted", "finished", "waiting")
    assert happenings(continuous, *what) == happenings(static, *what)
    assert continuous.metrics().requests == static.metrics().requests
