"""Request streams: rates, shares, order and reproducibility hold for any seed."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import InputError, Service, simulate
from engine.requests import prompt_bytes
from engine.streams import SHORT_AND_LONG, Arrivals, Kind, bursty, on_off, poisson, stream

seeds = st.integers(0, 2**32)
rates = st.sampled_from((0.5, 3, 8, 40.0))
processes = st.one_of(
    rates.map(poisson),
    st.builds(bursty, rates, st.integers(1, 6)),
    st.builds(on_off, rates, st.sampled_from((0.5, 2)), st.sampled_from((0.25, 3))),
)
mixes = st.lists(st.integers(1, 9), min_size=1, max_size=4).map(
    lambda weights: [Kind(f"kind {n}", w, (n + 1, 2 * n + 1), (1, 3)) for n, w in enumerate(weights)]
)


def arrivals_of(process: Arrivals, **asked: Any) -> list[Decimal]:
    return [request.arrival for request in stream(process, **asked)]


@given(processes, mixes, st.integers(1, 60), seeds)
def test_a_stream_is_a_trace_in_order_and_the_same_every_time(
    process: Arrivals, mix: list[Kind], count: int, seed: int
) -> None:
    found = stream(process, mix, count=count, seed=seed)
    assert found == stream(process, mix, count=count, seed=seed)
    assert len({request.id for request in found}) == count
    assert all(a.arrival <= b.arrival for a, b in pairwise(found))
    assert all(request.arrival.as_tuple().exponent == -3 for request in found)
    assert sorted(found, key=lambda request: request.id) == found


@given(mixes, st.integers(1, 200), seeds)
def test_shares_hold_to_the_request(mix: list[Kind], count: int, seed: int) -> None:
    apart = [Kind(kind.name, kind.weight, (n + 1, n + 1), (1, 1)) for n, kind in enumerate(mix)]
    counts = Counter(r.prompt_tokens - 1 for r in stream(poisson(5), apart, count=count, seed=seed))
    total = sum(kind.weight for kind in mix)
    assert all(abs(counts[n] - count * kind.weight / total) < 1 for n, kind in enumerate(mix))


@given(st.integers(1, 30), seeds)
def test_eighty_to_twenty_and_lengths_within_their_ranges(fives: int, seed: int) -> None:
    short, long = SHORT_AND_LONG
    found = stream(poisson(5), count=5 * fives, seed=seed)
    longs = [request for request in found if request.prompt_tokens >= long.prompt_tokens[0]]
    assert len(longs) == fives
    for request in found:
        kind = long if request in longs else short
        assert kind.prompt_tokens[0] <= request.prompt_tokens <= kind.prompt_tokens[1]
        assert kind.output_tokens[0] <= request.output_tokens <= kind.output_tokens[1]


@given(rates, seeds)
@settings(max_examples=20)
def test_poisson_gaps_have_the_mean_and_the_spread_of_their_rate(rate: float, seed: int) -> None:
    number = 4000
    moments = arrivals_of(poisson(rate), count=number, seed=seed)
    gaps = [float(b - a) for a, b in pairwise([Decimal(0), *moments])]
    mean = sum(gaps) / number
    spread = (sum((gap - mean) ** 2 for gap in gaps) / number) ** 0.5
    assert mean * rate == pytest.approx(1, abs=0.1)  # six standard deviations
    assert spread / mean == pytest.approx(1, abs=0.15)


@given(rates, st.integers(2, 8), seeds)
@settings(max_examples=20)
def test_bursts_come_whole_and_keep_the_rate(rate: float, burst: int, seed: int) -> None:
    moments = arrivals_of(bursty(rate, burst), count=2000 * burst, seed=seed)
    assert all(count % burst == 0 for count in Counter(moments).values())
    assert float(moments[-1]) * rate / len(moments) == pytest.approx(1, abs=0.15)


@given(seeds)
@settings(max_examples=20)
def test_nothing_arrives_while_it_is_off(seed: int) -> None:
    process = on_off(20, on=2, off=3)
    moments = arrivals_of(process, count=4000, seed=seed)
    assert all(moment % 5 < 2 for moment in moments)
    assert process.rate == 8
    assert len(moments) / float(moments[-1]) == pytest.approx(process.rate, rel=0.15)


@given(processes, seeds)
def test_a_horizon_takes_the_beginning_of_the_stream(process: Arrivals, seed: int) -> None:
    found = arrivals_of(process, horizon=4, seed=seed)
    assert all(moment < 4 for moment in found)
    assert arrivals_of(process, count=len(found) + 1, seed=seed)[-1] >= 4


@given(mixes, seeds)
def test_arrivals_and_sizes_are_drawn_apart(mix: list[Kind], seed: int) -> None:
    assert arrivals_of(poisson(8), count=20, seed=seed) == arrivals_of(
        poisson(8), mix=mix, count=20, seed=seed
    )
    sizes = [
        [(r.prompt_tokens, r.output_tokens) for r in stream(process, mix, count=20, seed=seed)]
        for process in (poisson(8), bursty(2, 4))
    ]
    assert sizes[0] == sizes[1]


def test_seeds_give_different_streams() -> None:
    assert stream(poisson(8), count=20, seed=1) != stream(poisson(8), count=20, seed=2)


def test_prompts_are_as_long_as_they_say() -> None:
    for request in stream(poisson(8), count=20, prompts=True):
        assert request.prompt is not None
        assert len(prompt_bytes(request.prompt)) == request.prompt_tokens


@given(processes, seeds)
@settings(max_examples=30)
def test_the_ledger_serves_a_stream(process: Arrivals, seed: int) -> None:
    run = simulate(stream(process, count=30, seed=seed), Service(pages=None))
    assert run.metrics().summary.finished == 30


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: poisson(0), "rate: 0 is not a finite number above 0"),
        (lambda: poisson(float("nan")), "rate: nan"),
        (lambda: poisson(float("inf")), "rate: inf"),
        (lambda: poisson("8"), "rate: '8'"),  # type: ignore[arg-type]
        (lambda: bursty(1, 0), "burst: 0 is not a whole number of at least 1"),
        (lambda: on_off(1, 0, 1), "on: 0"),
        (lambda: on_off(1, 1, -1), "off: -1"),
        (lambda: Kind("x", 0, (1, 1), (1, 1)), "kind x: weight: 0"),
        (lambda: Kind("x", 1, (0, 1), (1, 1)), "kind x: prompt_tokens: 0"),
        (
            lambda: Kind("x", 1, (1, 1), (3, 2)),
            "kind x: output_tokens: 2 is not a whole number of at least 3",
        ),
        (lambda: stream(poisson(1)), "either count or horizon"),
        (lambda: stream(poisson(1), count=1, horizon=1), "either count or horizon"),
        (lambda: stream(poisson(1), [], count=1), "mix: it is empty"),
        (lambda: stream(poisson(1), count=0), "count: 0"),
        (lambda: stream(poisson(1), horizon=0), "horizon: 0"),
    ],
)
def test_what_makes_no_sense_is_refused(wrong: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        wrong()
