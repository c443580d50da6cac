"""An admission rule of one's own: ledger, engine and replay keep to it, and it cannot make a run spin."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Engine, Reason, Request, Service, Stalled, explain, simulate
from engine.replay import replay
from engine.scheduling.policies import ADMISSION, Door
from engine.traces import main_trace
from tests.engine.models import SMALL, small_model
from tests.engine.random_runs import horizons, runs

WATCHED = 20  # tokens


def by_tokens(door: Door) -> Reason | None:
    """No more than ``WATCHED`` tokens inside, but for one request alone."""
    inside = sum(sequence.reserved for sequence in door.active)
    need = inside + door.waiting[0].reserved
    return Reason("max_active", have=inside, need=WATCHED) if inside and need > WATCHED else None


def never(door: Door) -> Reason | None:
    return Reason("max_active", have=0, need=0)


@given(runs(), horizons)
@settings(max_examples=60, deadline=None)
def test_the_rule_of_a_policy_given_by_hand_changes_nothing(
    run: tuple[list[Request], Service], horizon: str | None
) -> None:
    trace, service = run
    expected = simulate(trace, service, horizon).records
    assert simulate(trace, service, horizon, admission=ADMISSION[service.policy]).records == expected


@given(st.integers(1, 60))
@settings(max_examples=20, deadline=None)
def test_engine_ledger_and_replay_keep_to_it(pages: int) -> None:
    trace, service = main_trace(), Service(pages=pages)
    ledger = simulate(trace, service, admission=by_tokens)
    engine = Engine(service, model=small_model(), admission=by_tokens).run(trace)
    assert engine.comparable() == ledger.comparable()
    again = replay(engine, context=SMALL.context, admission=by_tokens)
    assert again.comparable() == ledger.comparable()
    assert all(r.reserved <= WATCHED or len(r.active) == 1 for r in ledger.records)


def test_its_reason_is_told() -> None:
    record = simulate(main_trace(), Service(), admission=by_tokens).records[1]
    assert explain(record, "R02") == Reason("max_active", have=30, need=WATCHED)


def test_one_that_lets_nobody_in_does_not_spin() -> None:
    with pytest.raises(Stalled, match="R01"):
        simulate(main_trace(), Service(), admission=never)
    engine = Engine(Service(), model=small_model(), admission=never)
    engine.submit("abc", 1)
    engine.step()  # somebody may still come
    with pytest.raises(Stalled):
        engine.run()
