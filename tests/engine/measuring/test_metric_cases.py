"""Cases from public bug reports about metrics: what counts, what is left out, and what is not known."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import msgspec
import pytest
from hypothesis import given, settings

from engine import Metrics, Reason, Request, Service, simulate
from engine.measuring.percentiles import Censored, Range, nearest_rank
from engine.measuring.progress import refusals
from tests.engine.main_runs import counts
from tests.engine.random_runs import crowded

near = pytest.approx


def seconds(
    trace: list[Request], horizon: object = None, slo: float | None = None, **settings: object
) -> Metrics:
    """Metrics with ticks of one second and no limit on pages."""
    service = Service(**{"tick": "1", "pages": None, **settings})  # type: ignore[arg-type]
    return simulate(trace, service, horizon).metrics(slo_ttft=slo, slo_tpot=slo)


def test_the_first_token_is_no_gap() -> None:
    found = seconds(counts(("0", 240, 3), ("100", 168, 1)))
    first, second = found.requests.values()
    assert (first.ttft, first.itl, first.tpot, first.e2e) == (10, (1, 1), 1, 12)
    assert (second.ttft, second.itl, second.tpot, second.e2e) == (7, (), None, 7)
    assert (found.summary.mean_tpot, found.summary.mean_itl) == (1, 1)
    assert found.summary.p95_tpot == 1


def test_mean_tpot_weighs_requests_and_mean_itl_weighs_gaps() -> None:
    found = seconds(counts(("0", 1, 101), ("91", 1, 2)), decode_slots=1)
    assert [request.tpot for request in found.requests.values()] == [1, 10]
    assert found.summary.mean_tpot == 5.5
    assert found.summary.mean_itl == near(110 / 101)


def test_throughput_counts_what_was_delivered() -> None:
    trace = counts(("0", 1, 50), ("60", 1, 100), ("70", 1, 9))
    summary = seconds(trace, horizon=100, max_active=1).summary
    assert (summary.throughput, summary.throughput_finished) == (0.90, 0.50)
    assert (summary.finished, summary.in_flight, summary.waiting, summary.unfinished) == (1, 1, 1, 2)


def test_refused_requests_are_missed_and_no_percentile_hides_it() -> None:
    trace = counts(*[("0", 1, 10)] * 8, *[("0", 900, 9)] * 2)
    summary = seconds(trace, slo=100.0, decode_slots=8, pages=64).summary
    assert (summary.finished, summary.refused, summary.offered) == (8, 2, 8)
    assert (summary.p95_e2e, summary.mean_e2e) == (10, 10)
    assert (summary.met, summary.missed, summary.attainment) == (8, 2, 0.8)
    assert summary.goodput == 0.8


def test_many_refused_in_one_tick_are_looked_up_once() -> None:
    """Reasons are read once per tick and not once per refused request: n of them, not n²."""
    history = simulate(counts(*[("0", 900, 9)] * 50), Service(pages=4))
    record, read = history.records[0], 0

    class Told(tuple[tuple[str, Reason], ...]):
        def __iter__(self) -> Iterator[tuple[str, Reason]]:
            nonlocal read
            read += 1
            return super().__iter__()

    history.records[0] = msgspec.structs.replace(record, blocked=Told(record.blocked))
    assert history.metrics().summary.refused == len(refusals(history)) == 50
    assert read == 2


def test_all_refused_is_nothing_and_not_zero() -> None:
    summary = seconds(counts(*[("0", 900, 9)] * 3), pages=4).summary
    assert (summary.window, summary.offered, summary.refused, summary.met, summary.missed) == (0, 0, 3, 0, 3)
    assert summary.attainment == 0
    names = ("throughput", "goodput", "mean_ttft", "p95_ttft", "p95_e2e", "mean_tpot", "arrival_rate")
    assert [getattr(summary, name) for name in names] == [None] * len(names)


def test_prompt_tokens_are_not_in_the_throughput() -> None:
    summary = seconds(counts(("0", 1000, 10)), prefill_budget=91).summary
    assert (summary.ticks, summary.throughput) == (20, 0.5)


def test_ttft_grows_by_the_service_time_per_place_in_line() -> None:
    found = seconds(counts(*[("0", 10, 6)] * 3), policy="immediate")
    assert [request.ttft for request in found.requests.values()] == [1, 7, 13]
    assert [request.queue for request in found.requests.values()] == [0, 6, 12]
    assert found.summary.mean_ttft == 7


# ---- limits, horizons ------------------------------------------------------------------------------


def test_a_limit_is_met_at_the_limit() -> None:
    found = simulate(counts(("0", 1, 3)), Service()).metrics(slo_ttft="0.1", slo_tpot="0.1")
    assert (found.summary.met, found.summary.missed) == (1, 0)
    assert simulate(counts(("0", 1, 3)), Service()).metrics(slo_ttft="0.0999").summary.missed == 1


@pytest.mark.parametrize(
    ("horizon", "verdicts"),
    [("2", (0, 0, 1)), ("4", (0, 1, 0)), ("9", (0, 1, 0))],
    ids=["undecided", "its pace is lost", "still lost"],
)
def test_an_unfinished_request_is_missed_once_a_limit_has_passed(
    horizon: str, verdicts: tuple[int, int, int]
) -> None:
    """Its first token came at 1; with 3 tokens asked for and a limit of 1, it is lost after 3."""
    trace = counts(("0", 1, 30), ("0", 1, 3))
    service = Service(tick="1", decode_slots=1)
    summary = simulate(trace[:2], service, horizon).metrics(slo_tpot=1).summary
    both = (summary.met, summary.missed, summary.undecided)
    assert both == (verdicts[0], verdicts[1], verdicts[2] + 1)  # R01 goes on and is undecided


def test_what_is_stamped_after_the_horizon_is_not_observed() -> None:
    found = simulate(counts(("0", 1, 3)), Service(), horizon="0.25").metrics()
    assert (found.requests["R01"].status, found.requests["R01"].itl) == ("unfinished", near((0.1,)))
    assert (found.summary.ticks, found.summary.window) == (3, 0.25)
    assert found.summary.throughput == near(2 / 0.25)


def test_nobody_arrives_within_the_horizon() -> None:
    summary = simulate(counts(("5", 1, 3)), Service(), horizon="1").metrics().summary
    assert (summary.window, summary.offered, summary.throughput, summary.attainment) == (0, 0, None, None)


@pytest.mark.parametrize(
    ("values", "percent", "expected"),
    [
        ([1, 2, 3, 4], 50, 2.0),
        ([1, 2, 3, 4], 95, 4.0),
        ([1] * 95 + [9] * 5, 95, 1.0),
        ([1, 2, Censored(5)], 50, 2.0),
        ([1, 2, Censored(5)], 99, Range(5.0, None)),
        ([1, 6, 7, Censored(2)], 50, Range(2.0, 6.0)),
        ([], 50, None),
    ],
)
def test_nearest_rank_under_censoring(values: list[object], percent: int, expected: object) -> None:
    assert nearest_rank(values, percent) == expected  # type: ignore[arg-type]


@given(crowded())
@settings(max_examples=100, deadline=None)
def test_what_preemption_lost_is_computed_again(run: tuple[list[Request], Service]) -> None:
    """In a run to the end, token for token."""
    history = simulate(*run)
    summary = history.metrics().summary
    fed = [count for record in history.records for _, _, count, _ in record.prefill]
    fed += [count for record in history.records for _, count in record.decode]
    assert summary.recomputed_tokens == near((summary.recompute_tax or 0) * sum(fed))


def test_what_the_prefix_cache_has_kept_is_not_computed_again() -> None:
    """b loses 8 tokens, of which 4, a whole page, are found again: 4 of the run's 24 are computed twice."""
    trace = [Request("a", Decimal(0), 3, 8, (9, 9, 9)), Request("b", Decimal(0), 5, 6, (1, 2, 3, 4, 5))]
    history = simulate(trace, Service(pages=4, kv_reserve="on_demand", prefix_cache=True))
    summary = history.metrics().summary
    assert (summary.preemptions, summary.recomputed_tokens) == (1, 8)
    assert summary.recompute_tax == 4 / 24
