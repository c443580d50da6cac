"""What learners get wrong: the right value of every item that follows from the ledger alone.

The numbers in the names are those of the list of beliefs.
"""

from __future__ import annotations

from typing import Any

import pytest

from engine import Metrics, Service, simulate
from engine.measuring.percentiles import Range
from tests.engine.main_runs import IDS, changed, counts, figures, run, values

SLO = {"slo_ttft": "0.5", "slo_tpot": "0.15"}
near = pytest.approx


def measured(horizon: object = None, slo: bool = False, **settings: Any) -> Metrics:
    return run(horizon, **settings).metrics(**(SLO if slo else {}))


def test_01_tpot_leaves_the_first_token_out() -> None:
    assert measured(policy="static").requests["R02"].tpot == near(0.10)


def test_02_three_tools_three_tpots() -> None:
    found = measured(tick="1.0").requests["R04"]
    assert found.ttft is not None
    assert found.e2e is not None
    assert found.tpot == near(2.00)
    assert (found.e2e - found.ttft) / found.output_tokens == near(1.00)
    assert found.e2e / found.output_tokens == near(1.81)


def test_03_mean_itl_is_not_mean_tpot() -> None:
    found = measured(tick="1.0")
    assert found.summary.mean_tpot == near(1.25)
    assert found.summary.mean_itl == near(16 / 15)
    assert [len(request.itl) for request in found.requests.values()] == [11, 1, 2, 1]


def test_04_ttft_is_queue_and_prefill() -> None:
    found = measured(policy="static").requests["R04"]
    assert found.ttft == near(0.92)
    assert found.queue == near(0.82)


def test_05_a_short_prompt_can_wait_longest() -> None:
    ttft = dict(zip(IDS, values(measured(policy="immediate"), "ttft"), strict=True))
    assert min(ttft, key=lambda key: ttft[key]) == "R01"
    assert max(ttft, key=lambda key: ttft[key]) == "R04"
    assert (ttft["R01"], ttft["R04"]) == (0.10, 1.42)


def test_06_service_rate_is_not_the_inverse_of_tpot() -> None:
    found = measured()
    assert found.summary.throughput == near(19 / 1.2)
    assert [1 / tpot for tpot in values(found, "tpot") if tpot] == near([10] * 4)


def test_07_goodput_attainment_and_good_tokens() -> None:
    found = measured(policy="static", slo=True)
    assert found.summary.goodput == near(1 / 1.5)
    assert found.summary.attainment == near(0.25)
    assert found.requests["R01"].output_tokens / found.summary.window == near(8)


def test_08_waiting_is_latency() -> None:
    found = measured(policy="static").requests["R02"]
    assert found.ttft is not None
    assert found.queue is not None
    assert found.ttft == near(1.20)
    assert found.ttft - found.queue == near(0.10)


def test_09_percentiles_are_of_the_requests() -> None:
    summary = measured(policy="immediate").summary
    assert summary.p95_ttft == near(1.42)
    assert summary.p50_ttft == near(1.20)


def test_10_and_11_throughput_falls_and_goodput_rises() -> None:
    before = measured(policy="static", slo=True)
    after = measured(policy="static", max_wait="0.4", slo=True)
    assert (before.summary.throughput, after.summary.throughput) == (near(19 / 1.5), near(19 / 1.7))
    assert (before.summary.met, after.summary.met) == (1, 3)
    assert (before.summary.goodput, after.summary.goodput) == (near(1 / 1.5), near(3 / 1.7))
    assert (before.summary.mean_ttft, after.summary.mean_ttft) == (near(0.825), near(0.55))
    ttft = (values(before, "ttft"), values(after, "ttft"))
    assert (ttft[0][0], ttft[1][0]) == (0.10, 0.40)
    assert (ttft[0][3], ttft[1][3]) == (0.92, 1.22)
    assert (max(ttft[0]), max(ttft[1])) == (1.20, 1.22)


@pytest.mark.parametrize(
    ("size", "wait", "mean", "ticks"),
    [
        (3, "0", 0.825, 15),
        (3, "0.1", 0.625, 16),
        (3, "0.2", 0.725, 17),
        (3, "0.3", 0.55, 17),
        (4, "0.4", 0.375, None),
    ],
)
def test_12_waiting_for_a_batch_is_not_monotone(size: int, wait: str, mean: float, ticks: int | None) -> None:
    summary = measured(policy="static", batch_size=size, max_wait=wait).summary
    assert summary.mean_ttft == near(mean)
    assert ticks in (None, summary.ticks)


def test_13_and_14_what_a_horizon_leaves_open() -> None:
    summary = measured("1.0", slo=True).summary
    assert (summary.met, summary.finished, summary.undecided) == (3, 3, 1)
    assert summary.attainment == near(0.75)
    assert summary.p95_e2e == Range(1.0, None)
    assert measured("1.0").requests["R03"].e2e == near(0.38)


def test_15_less_work_looks_faster() -> None:
    trace = changed()[1:]
    whole, less = measured(policy="static"), measured(policy="static", trace=trace)
    assert (whole.summary.mean_e2e, less.summary.mean_e2e) == (near(1.2), near(1 / 3))
    assert sum(request.output_tokens for request in trace) == 7
    assert less.summary.throughput == near(8.75)


def test_16_flat_throughput_is_not_a_full_machine() -> None:
    capped, free = measured(max_active=2), measured()
    assert capped.summary.throughput == free.summary.throughput == near(19 / 1.2)
    assert (capped.requests["R04"].ttft, free.requests["R04"].ttft) == (near(0.32), near(0.12))
    assert (capped.summary.peak_backlog, free.summary.peak_backlog) == (1, 0)


def test_17_littles_law() -> None:
    summary = measured().summary
    assert summary.mean_in_system == near(5 / 3)
    assert (summary.arrival_rate, summary.mean_time_in_system) == (near(4 / 1.2), near(0.5))


def test_18_continuous_batching_is_not_about_tpot() -> None:
    found = [measured(policy=policy) for policy in ("immediate", "static", "continuous")]
    assert [values(metrics, "tpot") for metrics in found] == [[0.1] * 4] * 3
    assert [metrics.summary.mean_ttft for metrics in found] == near([1.00, 0.825, 0.125])


def test_19_when_the_second_starts() -> None:
    for policy, start in (("static", 1.2), ("continuous", 0.1)):
        found = measured(policy=policy).requests["R02"]
        assert found.queue is not None
        assert found.arrival + found.queue == near(start)


def test_20_a_seat_is_held_until_the_batch_ends() -> None:
    found = measured(policy="static", max_wait="0.4").requests
    ends = [request.arrival + request.e2e for request in found.values() if request.e2e]
    assert ends[:3] == near([1.5, 0.5, 0.7])
    assert found["R04"].ttft is not None
    assert found["R04"].arrival + found["R04"].ttft == near(1.6)


def test_21_the_fourth_slot() -> None:
    assert figures(run()) == figures(run(decode_slots=4))
    assert values(measured(tick="1.0"), "tpot")[3] == 2.0
    assert values(measured(tick="1.0", decode_slots=4), "tpot")[3] == 1.0


def test_22_one_slot_changes_tpot_alone() -> None:
    summary = measured(decode_slots=1).summary
    assert (summary.mean_ttft, summary.mean_tpot) == (near(0.125), near(0.7125))


def test_23_ten_times_faster() -> None:
    slow, fast = measured(tick="1.0").requests, measured().requests
    assert (slow["R01"].e2e, fast["R01"].e2e) == (near(12), near(1.2))
    assert (slow["R04"].tpot, fast["R04"].tpot) == (near(2.0), near(0.1))
    assert (slow["R02"].ttft, fast["R02"].ttft) == (near(1.9), near(0.1))


def test_24_order_matters_for_the_same_work() -> None:
    first = measured(policy="immediate")
    last = measured(
        policy="immediate", trace=counts(("0", 6, 2), ("0.10", 5, 3), ("0.22", 7, 2), ("0.38", 18, 12))
    )
    assert (first.summary.mean_ttft, last.summary.mean_ttft) == (near(1.00), near(0.275))
    assert first.summary.ticks == last.summary.ticks == 19


def test_25_shortest_first_is_paid_for() -> None:
    fcfs, shortest = measured(tick="1.0"), measured(tick="1.0", decode_order="shortest")
    assert (fcfs.requests["R04"].e2e, shortest.requests["R04"].e2e) == (near(3.62), near(2.62))
    assert (fcfs.requests["R01"].e2e, shortest.requests["R01"].e2e) == (near(12), near(13))
    assert (fcfs.summary.ticks, shortest.summary.ticks) == (12, 13)
    assert fcfs.summary.mean_e2e == shortest.summary.mean_e2e == near(5.575)


def test_26_round_robin_needs_contention() -> None:
    assert figures(run(tick="1.0")) == figures(run(tick="1.0", decode_order="round_robin"))
    fcfs = measured(tick="1.0", decode_slots=2)
    robin = measured(tick="1.0", decode_slots=2, decode_order="round_robin")
    assert (fcfs.requests["R04"].e2e, robin.requests["R04"].e2e) == (near(5.62), near(3.62))
    assert (fcfs.requests["R01"].e2e, robin.requests["R01"].e2e) == (near(12), near(13))


def test_27_a_prompt_longer_than_the_budget_takes_several_ticks() -> None:
    long = changed(R01={"prompt_tokens": 60})
    found = measured(trace=long, pages=20).requests
    assert (found["R01"].ttft, found["R02"].ttft) == (near(0.30), near(0.20))
    assert measured(trace=long, pages=18).requests["R01"].ttft == near(0.30)  # it holds every page
    assert measured(trace=long).requests["R01"].status == "refused"


def test_28_chunked_prefill_does_not_always_help() -> None:
    assert figures(run()) == figures(run(chunked_prefill=False))
    together = counts(("0", 18, 2), ("0", 8, 2), ("0", 20, 2))
    assert values(measured(trace=together), "ttft")[2] == 0.20
    assert values(measured(trace=together, chunked_prefill=False), "ttft")[2] == 0.30


def test_29_an_early_end_is_worth_more_to_a_batch() -> None:
    short = changed(R01={"output_tokens": 4})
    assert measured(policy="immediate").summary.throughput == near(10)
    assert measured(policy="immediate", trace=short).summary.throughput == near(10)
    before, after = measured(policy="static"), measured(policy="static", trace=short)
    assert (before.requests["R02"].ttft, after.requests["R02"].ttft) == (near(1.20), near(0.40))
    assert (before.summary.throughput, after.summary.throughput) == (near(19 / 1.5), near(11 / 0.7))


def test_33_peak_kv_is_not_the_sum_of_all_lengths() -> None:
    assert sum(r.prompt_tokens + r.output_tokens for r in changed()) == 55
    for tick, reserved, held in (("0.1", 47, 41), ("1.0", 55, 44)):
        summary = measured(tick=tick).summary
        assert (summary.peak_reserved_tokens, summary.peak_held_tokens) == (reserved, held)


def test_34_reserved_held_written() -> None:
    last = run(trace=changed()[:1]).records[-1]
    assert (last.reserved, last.held, last.written) == (30, 30, 29)


def test_35_a_pool_is_allocated_before_anybody_comes() -> None:
    first = run(trace=counts(("0.1", 18, 12))).records[0]
    assert (first.free, first.pages) == (16, {})


@pytest.mark.parametrize(("page", "slots", "unused"), [(1, 55, 0), (4, 60, 5), (16, 80, 25)])
def test_36_pages_round_up(page: int, slots: int, unused: int) -> None:
    record = max(run(tick="1.0", page_size=page, pages=None).records, key=lambda r: r.reserved)
    taken = sum(map(len, record.pages.values()))
    assert (taken * page, taken * page - record.reserved) == (slots, unused)


def test_36_four_large_pages_do_not_hold_four_requests() -> None:
    records = run(tick="1.0", page_size=16, pages=4).records
    assert max(len(record.active) for record in records) == 3


def test_37_policy_without_memory_buys_nothing() -> None:
    small = run(page_size=1, pages=32)
    assert figures(small) == figures(run(policy="static"))
    assert (values(small.metrics(), "ttft"), len(small.records)) == ([0.10, 1.20, 1.08, 0.92], 15)


@pytest.mark.parametrize(("tokens", "ttft"), [(47, 0.12), (46, 0.32), (38, 0.92)])
def test_38_one_token_of_kv_is_a_step(tokens: int, ttft: float) -> None:
    assert values(measured(page_size=1, pages=tokens), "ttft")[3] == ttft


@pytest.mark.parametrize(("prompt", "output", "most"), [(18, 12, 2), (6, 2, 8)])
def test_39_concurrency_depends_on_size(prompt: int, output: int, most: int) -> None:
    records = run(trace=counts(*[("0", prompt, output)] * 10)).records
    assert max(len(record.active) for record in records) == most


def test_40_more_kv_is_not_faster_decoding() -> None:
    small, large = measured(page_size=1, pages=38), measured(page_size=1, pages=76)
    assert (values(small, "ttft")[3], values(large, "ttft")[3]) == (0.92, 0.12)
    assert values(small, "tpot") == values(large, "tpot")
    assert figures(run(page_size=1, pages=64)) == figures(run(page_size=1, pages=128))


def test_43_and_44_what_a_preemption_costs() -> None:
    trace = counts(("0", 4, 8), ("0", 4, 8))
    history = simulate(trace, Service(page_size=1, pages=14, kv_reserve="on_demand"))
    preempted = [(record.tick, key) for record in history.records for key in record.preempted]
    assert len(preempted) == 1
    tick, key = preempted[0]
    emitted = sum(name == key for record in history.records[:tick] for name, _, _ in record.emitted)
    assert history.metrics().requests[key].recomputed_tokens == 4 + emitted - 1


# ---- which knob changes anything on the default trace ---------------------------------------------


def bites(name: str, value: object, tick: str, **others: Any) -> bool:
    """Whether setting ``name`` to ``value`` changes any TTFT, TPOT or E2E."""
    return figures(run(tick=tick, **{name: value}, **others)) != figures(run(tick=tick, **others))


KNOBS = [
    ("decode_slots", range(1, 7), {"0.1": {1, 2}, "0.5": {1, 2, 4, 5, 6}, "1.0": {1, 2, 4, 5, 6}}),
    ("decode_order", ("round_robin", "shortest"), {"0.1": set(), "0.5": {"shortest"}, "1.0": {"shortest"}}),
    ("prefill_budget", range(1, 25), {tick: set(range(1, 18)) for tick in ("0.1", "0.5", "1.0")}),
    ("max_active", range(1, 6), {"0.1": {1, 2}, "0.5": {1, 2, 3}, "1.0": {1, 2, 3}}),
]


@pytest.mark.parametrize(("name", "choices", "expected"), KNOBS, ids=[knob[0] for knob in KNOBS])
def test_dead_and_live_knobs(name: str, choices: Any, expected: dict[str, set[Any]]) -> None:
    for tick, live in expected.items():
        assert {value for value in choices if bites(name, value, tick)} == live, tick


def test_orders_with_two_slots() -> None:
    orders = ("round_robin", "shortest")
    for tick, live in (("0.1", {"shortest"}), ("0.5", set(orders)), ("1.0", set(orders))):
        assert {order for order in orders if bites("decode_order", order, tick, decode_slots=2)} == live


def test_chunking_bites_only_at_small_budgets() -> None:
    for tick, live in (("0.1", range(2, 7)), ("0.5", (*range(2, 7), 9, 10)), ("1.0", (*range(2, 7), 9, 10))):
        found = [b for b in range(1, 25) if bites("chunked_prefill", False, tick, prefill_budget=b)]
        assert found == list(live), tick


def test_memory_bites_in_steps() -> None:
    for tick, most in (("0.1", 46), ("0.5", 54), ("1.0", 54)):
        plenty = figures(run(tick=tick, page_size=1, pages=64))
        live = [n for n in range(30, 65) if figures(run(tick=tick, page_size=1, pages=n)) != plenty]
        assert live == list(range(30, most + 1)), tick
