"""How the benchmark measures: turns, ratios, the clock of a run. No time is asserted."""

from __future__ import annotations

from decimal import Decimal

import pytest

from engine import Request, Service
from engine.bench.load import SERVICE, Served, load, mean_tpot, mean_ttft, requests_of, serve
from engine.bench.timing import least_seconds, mean, paired_ratio, percentile, take_turns
from tests.engine.bench.conftest import small_model


def test_contenders_take_turns_and_the_warm_up_does_not_count() -> None:
    calls: list[str] = []
    contenders = {name: lambda name=name: calls.append(name) or len(calls) for name in "ab"}
    found = take_turns(contenders, 2)
    assert "".join(calls) == "ababab"
    assert found == {"a": [3, 5], "b": [4, 6]}


def test_ratios_are_of_pairs() -> None:
    assert paired_ratio([2, 30, 4], [1, 10, 4]) == 2


def test_least_seconds_names_every_contender() -> None:
    found = least_seconds({"fast": int, "slow": lambda: sum(range(1000))}, 3)
    assert found.keys() == {"fast", "slow"}
    assert min(found.values()) >= 0


@pytest.mark.parametrize(("percent", "value"), [(1, 1), (50, 2), (75, 3), (95, 4), (100, 4)])
def test_percentiles_are_nearest_rank(percent: int, value: int) -> None:
    assert percentile([4, 2, 1, 3], percent) == value
    assert mean([4, 2, 1, 3]) == 2.5


@pytest.mark.parametrize("mixed", [True, False])
def test_the_load_is_four_long_and_sixteen_short(mixed: bool) -> None:
    requests = load(mixed=mixed)
    sizes = [(r.prompt_tokens, r.output_tokens) for r in requests]
    assert sizes.count((128, 64)) == 4
    assert sizes.count((16, 16)) == 16
    assert {r.arrival for r in requests} == {Decimal(0)}
    assert [n for n, size in enumerate(sizes) if size[1] == 64] == ([0, 5, 10, 15] if mixed else [0, 1, 2, 3])


def test_eight_slots_are_full_and_the_pool_never_is() -> None:
    for policy in ("static", "continuous"):
        records = serve(small_model(), SERVICE.replace(policy=policy), load()).records
        assert max(len(record.active) for record in records) == 8
        assert not any(record.preempted or record.refused for record in records)
        assert "no_pages" not in {why.code for record in records for _, why in record.blocked}


def test_waits_count_from_the_start_of_the_tick_of_arrival() -> None:
    second = Request("R02", "0.1", 16, 2, prompt="a" * 16)  # type: ignore[arg-type]
    run = serve(small_model(), Service(pages=None), [*requests_of([(16, 3)]), second])
    run.clock = [1.0, 3.0, 7.0]  # ends of the ticks
    assert run.seconds == 7
    assert run.moments() == {"R01": [1.0, 3.0, 7.0], "R02": [3.0, 7.0]}
    assert run.arrivals() == {"R01": 0.0, "R02": 1.0}
    assert run.ttft == [1.0, 2.0]
    assert run.tpot == [3.0, 4.0]
    assert (mean_ttft(run), mean_tpot(run)) == (1.5, 3.5)
    assert run.emitted == 5


def test_a_run_by_the_clock_has_an_end_for_every_tick() -> None:
    run = serve(small_model(), SERVICE, requests_of([(4, 3), (9, 2)]))
    assert len(run.clock) == len(run.records) == 3
    assert run.clock == sorted(run.clock)
    assert 0 < run.forward < run.seconds
    assert {key: len(tokens) for key, tokens in run.tokens().items()} == {"R01": 3, "R02": 2}


def test_an_empty_run_has_no_waits() -> None:
    assert Served().ttft == []
