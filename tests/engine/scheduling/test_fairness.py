"""Nobody starves: bounds for the first token and for every later gap, under endless newcomers."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Request, Service, simulate, skim
from engine.history import History
from engine.measuring.progress import lives
from engine.scheduling import policies
from engine.scheduling.bounds import first_token_bound, gap_bound, overtakers
from engine.scheduling.policies import queue_rank
from engine.scheduling.sequence import Sequence

HORIZON = 12  # seconds, 120 ticks


def stream(draw: st.DrawFn) -> list[Request]:
    """A few requests at time 0, the last of them long and unimportant, then newcomers without end."""
    lengths = st.tuples(st.integers(1, 20), st.integers(1, 9))
    first = draw(st.lists(lengths, min_size=0, max_size=4))
    trace = [Request(f"A{i}", Decimal(0), p, n) for i, (p, n) in enumerate(first)]
    trace.append(
        Request("victim", Decimal(0), draw(st.integers(1, 30)), draw(st.integers(4, 12)), priority=-1)
    )
    rate = draw(st.integers(1, 3))
    prompt, output = draw(st.integers(1, 6)), draw(st.integers(1, 3))
    for tick in range(1, 10 * HORIZON):
        trace += [Request(f"N{tick}.{i}", Decimal(tick) / 10, prompt, output) for i in range(rate)]
    return trace


@st.composite
def crowds(draw: st.DrawFn, decode_orders: tuple[str, ...]) -> tuple[list[Request], Service]:
    service = Service(
        policy=draw(st.sampled_from(("immediate", "static", "continuous"))),
        decode_order=draw(st.sampled_from(decode_orders)),
        max_skip=draw(st.integers(1, 4)),
        decode_slots=draw(st.integers(1, 3)),
        prefill_budget=draw(st.integers(2, 24)),
        chunked_prefill=draw(st.booleans()),
        max_active=draw(st.integers(1, 6)),
        batch_size=draw(st.integers(1, 4)),
        max_wait=draw(st.sampled_from(("0", "0.3"))),
        page_size=4,
        pages=draw(st.none() | st.integers(14, 24)),
    )
    return stream(draw), service


def gaps_of(run: History, key: str) -> list[int]:
    tokens = lives(run)[key].tokens
    return [b - a for a, b in pairwise(tokens)]


def most_active(run: History) -> int:
    return max(len(record.active) for record in run.records)


@given(crowds(("fcfs", "round_robin", "shortest", "priority")))
@settings(max_examples=120, deadline=None)
def test_first_token_and_gaps_stay_in_their_bounds(crowd: tuple[list[Request], Service]) -> None:
    trace, service = crowd
    run = simulate(trace, service, horizon=HORIZON)
    before = [r for r in trace if r.arrival == 0 and r.id != "victim"]
    victim = next(r for r in trace if r.id == "victim")
    life = lives(run)["victim"]
    bound = first_token_bound(service, before, victim)
    if bound < 10 * HORIZON:
        assert life.tokens
        assert life.tokens[0] + 1 <= bound
    ahead = sum(r.output_tokens for r in before)
    limit = gap_bound(service, most_active(run), ahead)
    assert limit is not None
    assert all(gap <= limit for gap in gaps_of(run, "victim"))


@given(st.data(), st.sampled_from(("shortest", "priority")), st.integers(1, 5))
@settings(max_examples=60, deadline=None)
def test_queue_orders_overtake_at_most_max_skip_times(data: st.DataObject, order: str, most: int) -> None:
    trace = data.draw(st.composite(stream)())
    service = Service(queue_order=order, max_skip=most, max_active=2, pages=None)
    run = simulate(trace, service, horizon=HORIZON)
    admitted = [key for record in run.records for key in record.admitted]
    ahead = sum(r.arrival == 0 for r in trace) - 1
    limit = overtakers(service, ahead)
    assert limit is not None
    before = admitted.index("victim") if "victim" in admitted else len(admitted)
    assert before <= limit


@pytest.mark.parametrize("order", ["shortest", "priority"])
def test_what_starves_by_nature_and_its_cure(order: str) -> None:
    """Two slots, and in every tick a newcomer with two tokens and more weight: the victim never gets on."""
    trace = [Request("victim", Decimal(0), 4, 20, priority=-1)]
    trace += [Request(f"N{t}.{i}", Decimal(t) / 10, 1, 3) for t in range(1, 100) for i in range(2)]
    starving = Service(decode_order=order, decode_slots=2, max_active=6, pages=None)
    assert gap_bound(starving, 9, 0) is None
    assert len(lives(simulate(trace, starving, horizon=9))["victim"].tokens) < 3
    cured = simulate(trace, starving.replace(max_skip=3), horizon=9)
    assert len(lives(cured)["victim"].tokens) == 20
    assert max(gaps_of(cured, "victim")) <= 3 + 6 // 2


@pytest.mark.parametrize("order", ["shortest", "priority"])
def test_a_queue_that_starves_by_nature_and_its_cure(order: str) -> None:
    trace = [Request("first", Decimal(0), 4, 4), Request("victim", Decimal(0), 9, 9, priority=-1)]
    trace += [Request(f"N{t}", Decimal(t) / 10, 1, 2) for t in range(1, 100)]
    starving = Service(queue_order=order, max_active=1, pages=None)
    assert overtakers(starving, 1) is None
    assert lives(simulate(trace, starving, horizon=9))["victim"].tokens == []
    assert lives(simulate(trace, starving.replace(max_skip=5), horizon=9))["victim"].tokens


def test_a_batch_is_held_back_for_its_oldest_and_not_for_the_head_of_the_queue() -> None:
    """Shortest first: the short one is at the head, and the long one has waited for longer."""
    trace = [Request("old", "0", 8, 2), Request("short", "0.3", 1, 1), Request("late", "9", 1, 1)]
    service = Service(policy="static", max_wait="0.4", queue_order="shortest")
    run = simulate(trace, service)
    assert next((r.tick, r.admitted) for r in run.records if r.admitted) == (4, ("short", "old"))
    assert skim(trace, service).metrics() == run.metrics()


@pytest.mark.parametrize(("max_wait", "ticks"), [("0.4", 4), ("0.45", 5), ("0.41", 5), ("0", 0)])
def test_a_hold_that_is_no_multiple_of_the_tick_lasts_to_the_next_one(max_wait: str, ticks: int) -> None:
    service = Service(policy="static", max_wait=max_wait)
    assert first_token_bound(service, [], Request("a", "0", 1, 1)) == 1 + 2 + ticks


@pytest.mark.parametrize("max_skip", [None, 5])
def test_a_long_queue_is_not_sorted_anew_for_everybody(
    monkeypatch: pytest.MonkeyPatch, max_skip: int | None
) -> None:
    """Ranks that are asked for, and no time: some n · log n of them when n requests come at once."""
    asked = 0

    def counted(service: Service, sequence: Sequence) -> tuple[int, ...]:
        nonlocal asked
        asked += 1
        return queue_rank(service, sequence)

    monkeypatch.setattr(policies, "queue_rank", counted)
    trace = [Request(f"R{i}", Decimal(0), 1 + i % 9, 1) for i in range(256)]
    run = simulate(trace, Service(queue_order="shortest", max_active=4, max_skip=max_skip, pages=None))
    assert run.metrics().summary.finished == 256
    assert 256 <= asked <= 256 * 24
