"""What learners get wrong: the right values, and the wrong ones each belief gives."""

from __future__ import annotations

import msgspec
import pytest

from engine import Metrics, Service, simulate
from engine.scheduling.explain import explain
from engine.traces import main_trace
from puzzles import field_of, load, solve
from puzzles.asking import Field, right
from puzzles.beliefs import BELIEFS
from puzzles.mistakes import hit, wrong_values

MAIN = load("main")
TRACE = tuple(main_trace())
CORRECT = solve(MAIN)


def metrics(**settings: object) -> Metrics:
    return simulate(TRACE, Service(**settings)).metrics()  # type: ignore[arg-type]


def wrong(name: str, key: str) -> list[float | str]:
    """What a holder of the belief answers on a field of the main exercise."""
    values = wrong_values(MAIN, field_of(MAIN, key), BELIEFS[name], CORRECT[key])
    return [value if isinstance(value, str) else round(float(value), 4) for value in values]


def under(name: str, request: str, metric: str = "ttft", **settings: object) -> list[float]:
    """The same under any service; nothing is left out."""
    field = Field("", "", None, request, metric, "s", False, None, 0.05, "static")
    values = BELIEFS[name].wrong(Service(**settings), TRACE, field)  # type: ignore[arg-type]
    return [round(float(value), 4) for value in values]


def test_1_tpot_leaves_the_wait_out_and_divides_by_gaps() -> None:
    assert metrics(policy="static").requests["R02"].tpot == 0.1
    assert wrong("tpot_from_arrival", "static.R02.tpot") == [0.65]
    assert wrong("tpot_by_tokens", "static.R02.tpot") == [0.05]


def test_1_on_the_slow_machine() -> None:
    assert metrics(tick="1.0").requests["R04"].tpot == 2.0
    assert wrong("tpot_by_tokens", "slow.R04.tpot") == [1.0]
    assert under("tpot_from_arrival", "R04", "tpot", tick="1.0") == [1.81]
    assert wrong("tpot_from_arrival", "slow.R04.tpot") == [1.81]  # a pace has to be nearer than a time


def test_4_ttft_is_queue_and_prefill() -> None:
    one = metrics(policy="static").requests["R04"]
    assert (one.ttft, one.queue) == (0.92, 0.82)
    for policy in ("immediate", "static"):
        for request in ("R02", "R03", "R04"):
            assert wrong("ttft_is_prefill", f"{policy}.{request}.ttft") == [0.1]
    assert wrong("ttft_is_prefill", "continuous.R02.ttft") == []  # there it is the right value
    assert wrong("ttft_is_prefill", "continuous.R03.ttft") == [0.1]


def test_5_a_short_prompt_does_not_make_a_short_ttft() -> None:
    ttft = {key: one.ttft or 0.0 for key, one in metrics(policy="immediate").requests.items()}
    assert (min(ttft, key=ttft.__getitem__), ttft["R01"]) == ("R01", 0.1)
    assert (max(ttft, key=ttft.__getitem__), ttft["R04"]) == ("R04", 1.42)
    assert wrong("short_prompt", "immediate.R04.ttft") == [0.0292]
    assert wrong("short_prompt", "immediate.R02.ttft") == [0.025]


def test_6_throughput_is_not_the_pace_of_a_stream() -> None:
    found = metrics()
    assert round(found.summary.throughput or 0, 2) == 15.83
    assert all(one.tpot == 0.1 for one in found.requests.values())
    assert under("pace_of_service", "R01", "tpot") == [0.0632]
    assert wrong("pace_of_service", "slow.R04.tpot") == [0.6316]


def test_18_continuous_batching_does_not_make_tokens_faster() -> None:
    for policy, mean in (("immediate", 1.0), ("static", 0.825), ("continuous", 0.125)):
        found = metrics(policy=policy)
        assert found.summary.mean_ttft == mean
        assert {one.tpot for one in found.requests.values()} == {0.1}
    assert wrong("faster_tokens", "continuous.R01.tpot") == [0.0333]
    assert wrong("faster_tokens", "static.R01.tpot") == []


def test_18_is_also_seen_by_comparison() -> None:
    answers: dict[str, float | str] = {"continuous.R01.tpot": 0.2, "static.R01.tpot": 0.4}
    found = hit(MAIN, field_of(MAIN, "continuous.R01.tpot"), answers, 0.1)
    assert found is not None
    assert found.name == "faster_tokens"
    assert hit(MAIN, field_of(MAIN, "static.R01.tpot"), answers, 0.1) is None


def test_19_a_static_batch_admits_nobody() -> None:
    starts = {
        policy: round(0.1 + (metrics(policy=policy).requests["R02"].queue or 0.0), 9)
        for policy in ("static", "continuous")
    }
    assert starts == {"static": 1.2, "continuous": 0.1}
    assert [wrong("static_is_continuous", f"static.R0{n}.ttft") for n in (2, 3, 4)] == [[0.1], [0.18], [0.12]]
    assert wrong("static_is_continuous", "p95.best") == ["static"]


def test_20_seats_are_held_until_the_batch_ends() -> None:
    settings = {"policy": "static", "max_wait": "0.4"}
    history = simulate(TRACE, Service(**settings))  # type: ignore[arg-type]
    found = history.metrics().requests
    ends = {key: round(float(one.arrival) + (one.e2e or 0.0), 9) for key, one in found.items()}
    assert (ends["R01"], ends["R02"], ends["R03"]) == (1.5, 0.5, 0.7)
    assert round(0.38 + (found["R04"].ttft or 0.0), 9) == 1.6
    assert found["R04"].ttft == 1.22
    assert explain(history.records[5], "R02").code == "seat_held"
    assert under("seat_is_freed", "R04", **settings) == [0.22]
    assert under("seat_is_freed", "R04", policy="static") == []  # with max_wait 0 nobody waits for a seat


def test_23_a_slower_machine_is_not_only_slower() -> None:
    slow, usual = metrics(tick="1.0").requests, metrics().requests
    assert (slow["R01"].e2e, usual["R01"].e2e) == (12.0, 1.2)
    assert (slow["R04"].tpot, usual["R04"].tpot) == (2.0, 0.1)
    assert (slow["R02"].ttft, usual["R02"].ttft) == (1.9, 0.1)
    assert wrong("scale_only", "slow.R04.tpot") == [1.0]
    assert under("scale_only", "R02", "ttft", tick="1.0") == [1.0]


def test_33_the_peak_is_not_the_sum_of_all() -> None:
    usual, slow = metrics().summary, metrics(tick="1.0").summary
    assert (usual.peak_reserved_tokens, usual.peak_held_tokens) == (47, 41)
    assert (slow.peak_reserved_tokens, slow.peak_held_tokens) == (55, 44)
    assert sum(request.prompt_tokens + request.output_tokens for request in TRACE) == 55
    assert CORRECT["continuous.peak_mb"] == 41 * 0.25
    assert wrong("sum_of_all", "continuous.peak_mb") == [55 * 0.25]
    assert wrong("sum_of_all", "R01.kv_mb") == [55 * 0.25]


def test_34_reserved_held_and_written_are_three_figures() -> None:
    last = simulate(TRACE, Service(policy="immediate")).records[11]
    assert (last.reserved, last.held, last.written) == (30, 30, 29)
    assert CORRECT["R01.kv_mb"] == 7.5
    assert wrong("kv_is_one_number", "R01.kv_mb") == [7.25, 4.5]
    assert wrong("kv_is_one_number", "continuous.peak_mb") == [47 * 0.25, 38 * 0.25]


def test_36_pages_round_up() -> None:
    assert wrong("pages_are_tokens", "R01.kv_mb") == [8.0]
    assert wrong("pages_are_tokens", "continuous.peak_mb") == [13.0]


def test_a_clock_that_starts_at_zero() -> None:
    assert wrong("clock_from_zero", "static.R02.ttft") == [1.3]
    assert wrong("clock_from_zero", "static.R01.ttft") == []


@pytest.mark.parametrize("name", sorted(BELIEFS))
def test_every_belief_of_the_exercise_is_known_and_every_known_one_used(name: str) -> None:
    assert name in MAIN.beliefs


@pytest.mark.parametrize(
    ("key", "given", "name"),
    [
        ("static.R02.ttft", 0.1, "static_is_continuous"),
        ("immediate.R02.ttft", 0.1, "ttft_is_prefill"),
        ("immediate.R02.ttft", 0.03, "short_prompt"),
        ("immediate.R03.ttft", 1.5, "clock_from_zero"),
        ("static.R02.tpot", 0.65, "tpot_from_arrival"),
        ("static.R02.tpot", 0.05, "tpot_by_tokens"),
        ("continuous.R01.tpot", 0.033, "faster_tokens"),
        ("slow.R04.tpot", 1.0, "scale_only"),
        ("R01.kv_mb", 7.25, "kv_is_one_number"),
        ("R01.kv_mb", 8.0, "pages_are_tokens"),
        ("R01.kv_mb", 13.75, "sum_of_all"),
        ("p95.best", "static", "static_is_continuous"),
        ("p95.best", "immediate", "ttft_is_prefill"),
    ],
)
def test_a_wrong_answer_names_its_belief(key: str, given: float | str, name: str) -> None:
    found = hit(MAIN, field_of(MAIN, key), {key: given}, CORRECT[key])
    assert found is not None
    assert found.name == name


def test_a_wrong_answer_that_nobody_is_known_to_give_names_no_belief() -> None:
    assert hit(MAIN, field_of(MAIN, "static.R02.ttft"), {"static.R02.ttft": 0.7}, 1.2) is None


def test_half_a_tick_away_is_wrong_and_less_is_right() -> None:
    field = field_of(MAIN, "static.R02.ttft")
    assert right(field, 1.151, 1.2)
    assert right(field, 1.249, 1.2)
    assert not right(field, 1.15, 1.2)
    assert not right(field, 1.25, 1.2)
    assert not right(field, 1.2, None)


def test_a_tenth_of_a_tick_away_is_wrong_for_a_pace() -> None:
    """Half a tick would take a gap divided by three tokens for one divided by two gaps."""
    for exercise, key in ((load("tpot"), "static.R03.tpot"), (load("one-slot"), "one.mean_tpot")):
        field, correct = field_of(exercise, key), solve(exercise)[key]
        assert isinstance(correct, float)
        assert right(field, correct + 0.0099, correct)
        assert not right(field, correct + 0.0101, correct)
    tpot = load("tpot")
    found = hit(tpot, field_of(tpot, "static.R03.tpot"), {"static.R03.tpot": 0.067}, 0.1)
    assert found is not None
    assert found.name == "tpot_by_tokens"


def test_a_belief_has_no_say_in_another_metric() -> None:
    field = msgspec.structs.replace(field_of(MAIN, "static.R02.ttft"))
    assert wrong_values(MAIN, field, BELIEFS["tpot_by_tokens"], 1.2) == ()
