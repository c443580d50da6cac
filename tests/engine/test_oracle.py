"""The scheduler and the metrics against a second telling of SEMANTICS that shares no code with them."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import simulate
from engine.measuring.percentiles import Range
from tests.engine.driving import Impatient, drive
from tests.engine.oracle import Oracle
from tests.engine.oracle_metrics import measure
from tests.engine.random_runs import cancellations, crowded, horizons, runs

SAME = (
    *("tick", "arrived", "cancelled", "refused", "admitted", "preempted", "decode", "prefill", "emitted"),
    *("finished", "waiting", "active", "reserved", "held", "written"),
)
LIMITS = st.sampled_from((None, "0.1", "0.5", "1.2"))


def told(record):
    """What the engine's record says, in the oracle's words."""
    return {name: getattr(record, name) for name in SAME}


def expected(tick):
    return {name: tuple(v) if isinstance(v, list) else v for name, v in tick.items() if name in SAME}


def check_pages(record, tick, service):
    """Pages are counted per request; contiguous runs must lie exactly where first fit puts them."""
    if service.kv_layout == "paged":
        assert {key: len(table) for key, table in record.pages.items()} == tick["taken"]
        assert record.free == tick["free"]
        return
    runs_of = {key: (table[0], table[-1] + 1) for key, table in record.pages.items()}
    assert runs_of == tick["runs"]
    assert all(len(table) == table[-1] + 1 - table[0] for table in record.pages.values())
    assert record.free == service.slots - sum(high - low for low, high in runs_of.values())


def check_run(history, oracle):
    ticks = oracle.run()
    assert [told(record) for record in history.records] == [expected(tick) for tick in ticks]
    for record, tick in zip(history.records, ticks, strict=True):
        check_pages(record, tick, history.service)
    return ticks


def close(ours, theirs):
    if theirs is None or ours is None:
        return ours is theirs
    if isinstance(theirs, tuple):
        if theirs[1] is not None and float(theirs[0]) == float(theirs[1]):  # a hair apart
            return close(ours, theirs[0])
        assert isinstance(ours, Range)
        return close(ours.at_least, theirs[0]) and close(ours.at_most, theirs[1])
    return not isinstance(ours, Range) and ours == pytest.approx(float(theirs), rel=1e-12, abs=1e-15)


def check_metrics(history, oracle, ticks, slo_ttft=None, slo_tpot=None):
    found = history.metrics(slo_ttft=slo_ttft, slo_tpot=slo_tpot)
    limits = [None if limit is None else Fraction(limit) for limit in (slo_ttft, slo_tpot)]
    summary, logs = measure(oracle, ticks, *limits)
    for name, value in summary.items():
        if hasattr(found.summary, name):
            assert close(getattr(found.summary, name), value), (name, getattr(found.summary, name), value)
    for key, log in logs.items():
        ours = found.requests[key]
        for name in ("queue", "ttft", "tpot", "e2e"):
            assert close(getattr(ours, name), getattr(log, name)), (key, name)
        assert ours.itl == pytest.approx([float(gap) for gap in log.gaps], rel=1e-12)
        assert ours.preempted == oracle.preemptions[key]
        assert ours.recomputed_tokens == oracle.recomputed[key]


@given(runs(), horizons, LIMITS, LIMITS)
@settings(max_examples=400, deadline=None)
def test_any_run(run, horizon, slo_ttft, slo_tpot):
    trace, service = run
    history, oracle = simulate(trace, service, horizon), Oracle(trace, service, horizon)
    ticks = check_run(history, oracle)
    check_metrics(history, oracle, ticks, slo_ttft, slo_tpot)


@given(crowded(), horizons, LIMITS, LIMITS)
@settings(max_examples=300, deadline=None)
def test_runs_with_preemption(run, horizon, slo_ttft, slo_tpot):
    trace, service = run
    history, oracle = simulate(trace, service, horizon), Oracle(trace, service, horizon)
    ticks = check_run(history, oracle)
    check_metrics(history, oracle, ticks, slo_ttft, slo_tpot)


@given(runs() | crowded(), horizons, st.data())
@settings(max_examples=200, deadline=None)
def test_runs_that_end_early(run, horizon, data):
    trace, service = run
    ends = {request.id: data.draw(st.integers(1, 9)) for request in trace}
    history = simulate(trace, service, horizon, executor=Impatient(ends))
    oracle = Oracle(trace, service, horizon, stops=ends)
    ticks = check_run(history, oracle)
    check_metrics(history, oracle, ticks, "0.5", "0.15")


@given(runs() | crowded(), horizons, st.data())
@settings(max_examples=300, deadline=None)
def test_runs_with_cancellations(run, horizon, data):
    trace, service = run
    cancels = data.draw(cancellations(trace))
    history, oracle = drive(trace, service, horizon, cancels), Oracle(trace, service, horizon, cancels)
    ticks = check_run(history, oracle)
    check_metrics(history, oracle, ticks, "0.5", "0.15")
