"""The ledger in a hurry gives exactly the figures of the recorded run."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import InputError, Request, Service, simulate
from engine.measuring.progress import lives
from engine.skimming.counting import CountingPool
from engine.skimming.skimmer import Skim, skim
from tests.engine.main_runs import counts
from tests.engine.random_runs import crowded, horizons, runs, services

LIMITS = st.sampled_from((None, "0.1", "0.5", "1.2"))


def check_same(trace: list[Request], service: Service, horizon: str | None, *limits: str | None) -> Skim:
    recorded, skimmed = simulate(trace, service, horizon), skim(trace, service, horizon)
    assert skimmed.metrics(*limits) == recorded.metrics(*limits)
    assert skimmed.summary(*limits) == recorded.metrics(*limits).summary
    for key, life in lives(recorded).items():
        found = skimmed.lives[key]
        assert (found.tokens, found.start, found.ended) == (life.tokens, life.start, life.ended)
        assert (found.arrived, found.admitted, found.status) == (life.arrived, life.admitted, life.status)
        assert (found.reason, found.refusal) == (life.reason, life.refusal)
    return skimmed


@given(runs(), horizons, LIMITS, LIMITS)
@settings(max_examples=300, deadline=None)
def test_any_run(
    run: tuple[list[Request], Service], horizon: str | None, slo_ttft: str | None, slo_tpot: str | None
) -> None:
    check_same(*run, horizon, slo_ttft, slo_tpot)


@given(crowded(), horizons)
@settings(max_examples=100, deadline=None)
def test_runs_with_preemption(run: tuple[list[Request], Service], horizon: str | None) -> None:
    check_same(*run, horizon)


@given(st.data(), horizons)
@settings(max_examples=200, deadline=None)
def test_many_requests_that_come_and_go(data: st.DataObject, horizon: str | None) -> None:
    """Slots that are contested now and then, so that stretches and plain ticks alternate."""
    number = data.draw(st.integers(8, 25))
    moments = data.draw(st.lists(st.integers(0, 80), min_size=number, max_size=number))
    lengths = st.tuples(st.integers(1, 40), st.integers(1, 25))
    trace = counts(*[(f"{m / 10}", *data.draw(lengths)) for m in moments])
    plenty = {
        "prefill_budget": data.draw(st.integers(20, 60)),
        "shared_budget": data.draw(st.none() | st.just(40)),
    }
    roomy = {"decode_slots": data.draw(st.integers(2, 8)), "pages": data.draw(st.none() | st.just(60))}
    service = data.draw(services(kv_reserve="full", kv_layout="paged", tick="0.1", **plenty, **roomy))
    check_same(trace, service, horizon, "1", "0.2")


def test_long_gaps_cost_nothing() -> None:
    trace = counts(("0", 5, 5), ("1000000000", 5, 5))
    found = skim(trace, Service(tick="0.001"))
    assert found.ticks == 10**12 + 5
    assert found.summary().finished == 2


def test_who_got_a_token_in_a_stretch_has_not_been_passed_over_since() -> None:
    """R03 waits once, in tick 2, and then has the slot to itself, until R02 comes, which is more urgent."""
    rows = (("1", 2, 0), ("4", 3, 1), ("1", 5, 0))
    trace = [Request(f"R0{i}", at, 1, output, priority=weight) for i, (at, output, weight) in enumerate(rows)]
    check_same(
        trace, Service(tick="1", decode_slots=1, decode_order="priority", max_skip=1, pages=None), None
    )


def test_records_on_demand() -> None:
    trace = counts(("0", 5, 5), ("0.3", 5, 5))
    assert skim(trace, Service(), "0.5").history() == simulate(trace, Service(), "0.5")


@pytest.mark.parametrize("trace", [[], counts(("0", 1, 1)) * 2])
def test_malformed_traces(trace: list[Request]) -> None:
    with pytest.raises(InputError):
        skim(trace)


def test_a_counting_pool_counts() -> None:
    pool = CountingPool(4, 2)
    pool.take("A", 3)
    assert (pool.need(3), pool.has(1), pool.has(2), pool.largest(), pool.free_count()) == (
        2,
        True,
        False,
        1,
        1,
    )
    with pytest.raises(MemoryError, match="B wants 2 pages, 1 are free"):
        pool.take("B", 2)
    pool.trim("A", 1)
    pool.check()
    assert (pool.used_count(), len(pool.table("A")), pool.tables()) == (1, 1, {})
    pool.release("A")
    pool.release("A")
    assert pool.used_count() == 0
    pool.used = 1
    with pytest.raises(AssertionError):
        pool.check()
