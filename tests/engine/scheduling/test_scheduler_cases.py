"""Cases from public bug reports about schedulers, as far as they concern the ledger, and stalling."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import (
    InputError,
    Outcome,
    Plan,
    Reason,
    Request,
    Scheduler,
    Service,
    Stalled,
    TickRecord,
    simulate,
)
from engine.ledger import Executor, Ledger, Replay, step, ticks
from engine.replay import replay
from tests.engine.driving import Impatient, drive
from tests.engine.main_runs import counts
from tests.engine.random_runs import cancellations, crowded, horizons, runs

POLICIES = ("immediate", "static", "continuous")


def drain(scheduler: Scheduler, executor: Executor | None = None) -> list[TickRecord]:
    """Close the door and run to the end."""
    scheduler.close()
    return list(ticks(scheduler, executor or Ledger(), None))


def assert_empty(scheduler: Scheduler) -> None:
    """Nothing is left in any queue or table."""
    assert not scheduler.waiting
    assert not scheduler.active
    assert not scheduler._pending
    assert not scheduler._live
    assert not scheduler._ended
    assert scheduler.pool.tables() == {}
    assert scheduler.pool.free_count() == scheduler.pool.total


# ---- ids and cancelling ----------------------------------------------------------------------


def test_a_live_id_is_refused_and_the_first_is_untouched() -> None:
    scheduler = Scheduler(Service())
    scheduler.submit(Request("x", "0", 4, 8), "x")
    step(scheduler, Ledger())
    with pytest.raises(InputError, match="'x' is live"):
        scheduler.submit(Request("x", "0", 4, 8), "x")
    finished = [entry for record in drain(scheduler) for entry in record.finished]
    assert finished == [("x", "length")]
    scheduler.submit(Request("x", "1", 4, 2), "x")
    assert [r.finished for r in drain(scheduler) if r.finished] == [(("x", "length"),)]
    assert_empty(scheduler)


@pytest.mark.parametrize("arrival", ["0", "1000"])
def test_a_cancelled_id_can_be_used_again_a_thousand_times(arrival: str) -> None:
    scheduler = Scheduler(Service(max_active=1))
    scheduler.submit(Request("a", "0", 4, 8), "a")
    step(scheduler, Ledger())
    for _ in range(1000):
        scheduler.submit(Request("q", arrival, 3, 3), "q")
        assert scheduler.cancel("q")
        assert not scheduler.cancel("q")
    scheduler.submit(Request("q", "0", 3, 3), "q")
    records = drain(scheduler)
    assert sum(key == "q" for record in records for key, _, _ in record.emitted) == 3
    assert_empty(scheduler)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_cancelled_place_is_free_in_this_tick(policy: str) -> None:
    trace = counts(("0", 8, 8), ("0", 8, 8), ("0", 8, 8))
    service = Service(policy=policy, batch_size=2, pages=8)
    waiting = 2 if policy != "immediate" else 1
    gone = trace[:waiting]
    records = drive(trace, service, cancels={3: [request.id for request in gone]}).records
    assert records[3].cancelled == tuple(request.id for request in gone)
    assert records[3].admitted == (trace[waiting].id,)
    assert not {key for record in records[3:] for key, _, _ in record.emitted} & {r.id for r in gone}


def test_the_last_unfinished_member_of_a_batch_is_cancelled() -> None:
    """The finished ones keep their seats only as long as somebody still runs."""
    trace = counts(("0", 4, 20), ("0", 4, 2), ("0", 4, 2))
    records = drive(trace, Service(policy="static", batch_size=2), cancels={5: ["R01"]}).records
    assert records[4].active == ("R01", "R02")
    assert (records[5].admitted, records[5].active) == (("R03",), ("R03",))


def test_a_request_that_will_not_come_holds_no_batch_back() -> None:
    trace = counts(("0", 4, 2), ("9", 4, 2))
    records = drive(trace, Service(policy="static", max_wait="99"), cancels={2: ["R02"]}).records
    assert [record.tick for record in records if record.admitted] == [2]


# ---- refusing, and never spinning --------------------------------------------------------------


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("reserve", ["full", "on_demand"])
@pytest.mark.parametrize(("prompt", "output"), [(20, 1), (15, 10)])
def test_what_can_never_fit_is_refused_and_blocks_nobody(
    policy: str, reserve: str, prompt: int, output: int
) -> None:
    trace = counts(("0", prompt, output), ("0", 3, 2))
    history = simulate(trace, Service(policy=policy, kv_reserve=reserve, pages=4))
    stored = prompt + output - (reserve == "on_demand")
    reason = dict(history.records[0].blocked)["R01"]
    assert reason == Reason("never_fits", have=4, need=-(-stored // 4))
    metrics = history.metrics()
    assert [request.status for request in metrics.requests.values()] == ["refused", "finished"]
    assert (metrics.summary.refused, metrics.summary.finished, metrics.summary.failed) == (1, 1, 0)
    assert len(history.records) <= 4


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("shared", [False, True])
def test_two_hundred_requests_in_eight_pages(policy: str, shared: bool) -> None:
    trace = [
        Request(f"r{n}", "0", 6 + n % 7, 4 + n % 9, bytes(6 + n % 7).decode() if shared else None)
        for n in range(200)
    ]
    service = Service(policy=policy, decode_slots=8, pages=8, kv_reserve="on_demand", prefix_cache=shared)
    history = simulate(trace, service)
    assert history.metrics().summary.finished == 200
    for record in history.records:
        used = {page for table in record.pages.values() for page in table}
        assert record.free is not None
        assert record.free + len(used) + record.cached == 8
        assert record.active or not record.waiting


class Hog:
    """An executor that takes pages behind the scheduler's back and never gives them back."""

    def __init__(self, scheduler: Scheduler) -> None:
        scheduler.pool.take("hog", 12)

    def execute(self, plan: Plan) -> Outcome:
        return Ledger().execute(plan)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_run_that_cannot_go_on_says_so(policy: str) -> None:
    scheduler = Scheduler(Service(policy=policy, max_wait="0"))
    executor = Hog(scheduler)
    for request in counts(("0", 4, 4), ("0", 18, 12), ("0", 4, 4)):
        scheduler.submit(request, request.id)
    with pytest.raises(Stalled, match=r"stalled, 2 waiting \(R02, R03\)") as caught:
        drain(scheduler, executor)
    assert caught.value.queue == ["R02", "R03"]
    assert caught.value.reason == Reason("no_pages", have=4, need=8)


# ---- preemption and what it does to the figures ------------------------------------------------


def test_a_preempted_request_keeps_its_first_token_and_pays_with_its_time() -> None:
    trace = counts(("0", 4, 4), ("0", 4, 4))
    history = simulate(trace, Service(tick="1", page_size=1, pages=11, kv_reserve="on_demand"))
    assert [key for record in history.records for key in record.preempted] == ["R02"]
    log = {
        r.id: [k.tick + 1.0 for k in history.records for key, _, _ in k.emitted if key == r.id] for r in trace
    }
    for key, request in history.metrics().requests.items():
        stamps = log[key]
        assert (request.ttft, request.e2e) == (stamps[0], stamps[-1])
        assert request.tpot is not None
        assert request.e2e == request.ttft + request.tpot * 3
        assert list(request.itl) == [b - a for a, b in pairwise(stamps)]
    delayed = history.metrics().requests["R02"]
    assert delayed.ttft == 1
    assert max(delayed.itl) == max(delayed.itl[1:])
    assert max(delayed.itl) > 1


@given(runs() | crowded())
@settings(max_examples=150, deadline=None)
def test_identities_hold_for_every_finished_request(run: tuple[list[Request], Service]) -> None:
    metrics = simulate(*run).metrics()
    for request in metrics.requests.values():
        if request.status != "finished":
            continue
        assert request.ttft is not None
        assert request.e2e is not None
        assert request.e2e == pytest.approx(request.ttft + sum(request.itl))
        assert len(request.itl) == request.output_tokens - 1
        assert (request.tpot is None) == (request.output_tokens == 1)
    summary = metrics.summary
    if summary.mean_in_system is not None:
        rate, time = summary.arrival_rate, summary.mean_time_in_system
        assert rate is not None
        assert time is not None
        assert summary.mean_in_system == pytest.approx(rate * time)


# ---- replaying -----------------------------------------------------------------------------------


@given(runs() | crowded(), horizons, st.data())
@settings(max_examples=200, deadline=None)
def test_outcomes_told_again_give_the_same_records(
    run: tuple[list[Request], Service], horizon: str | None, data: st.DataObject
) -> None:
    trace, service = run
    ends = {request.id: data.draw(st.integers(1, 9)) for request in trace}
    history = simulate(trace, service, horizon, executor=Impatient(ends))
    again = simulate(trace, service, horizon, executor=Replay(history.records))
    assert again.records == history.records
    assert again.metrics("0.5", "0.2") == history.metrics("0.5", "0.2")


@given(runs() | crowded(), st.data())
@settings(max_examples=150, deadline=None)
def test_cancellations_are_told_again_as_well(
    run: tuple[list[Request], Service], data: st.DataObject
) -> None:
    trace, service = run
    ends = {request.id: data.draw(st.integers(1, 9)) for request in trace}
    history = drive(trace, service, cancels=data.draw(cancellations(trace)), executor=Impatient(ends))
    assert replay(history).records == history.records
