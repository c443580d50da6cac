"""The transfer task: every seed can be solved, Little's law is exact, the verdict says what the run says."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import InputError, explain, simulate
from puzzles.design import check, design_words, load_task, plan_of, read, sound, task, trials, verdict
from puzzles.design.checking import alone, offered
from puzzles.design.fields import BY_NAME, FIELDS
from puzzles.design.holding import held
from puzzles.design.plan import Plan
from puzzles.design.trials import YOURS, met
from puzzles.design.variables import VARIABLES, passed
from puzzles.design.verdict import pays, rank_of

SEEDS = st.integers(0, 40)
TEXTS = st.fixed_dictionaries(
    {
        "policy": st.sampled_from(BY_NAME["policy"].choices),
        "batch_size": st.integers(1, 40).map(str),
        "max_wait": st.sampled_from(["0", "0.4", "3", "60"]),
        "max_active": st.one_of(st.just("none"), st.integers(1, 30).map(str)),
        "queue_order": st.sampled_from(BY_NAME["queue_order"].choices),
        "max_skip": st.one_of(st.just("none"), st.integers(1, 90).map(str)),
        "kv_reserve": st.sampled_from(BY_NAME["kv_reserve"].choices),
        "chunked_prefill": st.sampled_from(BY_NAME["chunked_prefill"].choices),
        "decode_order": st.sampled_from(BY_NAME["decode_order"].choices),
        "slo_ttft": st.sampled_from(["0.2", "1", "1.5", "20"]),
        "slo_tpot": st.sampled_from(["0.04", "0.05", "0.1", "1"]),
    }
)


def plan(**texts: str) -> Plan:
    """A plan under the task's own limits; ``texts`` by field."""
    found, problems = read(load_task().limits | texts, required=False)
    assert problems == {}
    return plan_of(found)


WORKED = load_task().worked


# ---- the traffic -------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(50))
def test_every_seed_can_be_solved_and_not_by_a_baseline(seed: int) -> None:
    found = task(seed)
    ran = trials(found, plan(**WORKED))
    assert ran[YOURS].attainment >= found.attain / 100
    assert all(trial.attainment < found.attain / 100 for name, trial in ran.items() if name != YOURS)
    assert rank_of(ran) == 1


@pytest.mark.parametrize("seed", [0, 7, 2**31 - 1])
def test_the_traffic_is_what_the_task_says(seed: int) -> None:
    found = task(seed)
    assert len(found.requests) == found.count >= 100
    for kind in found.classes:
        mine = [one for one in found.requests if found.kind_of(one.id) is kind]
        assert len(mine) == found.count * kind.share // 100
        assert all(kind.prompt[0] <= one.prompt_tokens <= kind.prompt[1] for one in mine)
        assert all(kind.output[0] <= one.output_tokens <= kind.output[1] for one in mine)
    assert all(a.arrival < b.arrival for a, b in pairwise(found.requests))
    assert all(one.arrival * 100 == int(one.arrival * 100) for one in found.requests)


@pytest.mark.slow
def test_arrivals_have_the_rate_of_the_task_on_average() -> None:
    gaps = [b.arrival - a.arrival for seed in range(30) for a, b in pairwise(task(seed).requests)]
    assert abs(float(sum(gaps) / len(gaps)) - 1 / load_task().rate) < 0.02
    assert len({task(seed).requests for seed in range(30)}) == 30
    assert task(7).requests == task(7).requests


@pytest.mark.parametrize("seed", [-1, 2**31])
def test_a_seed_that_is_none_is_refused(seed: int) -> None:
    with pytest.raises(InputError, match="seed"):
        task(seed)


# ---- any design --------------------------------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=30)
@given(seed=SEEDS, texts=TEXTS)
def test_littles_law_is_exact_and_counts_agree(seed: int, texts: dict[str, str]) -> None:
    found, mine = task(seed), plan(**texts)
    ran = trials(found, mine)
    for trial in ran.values():
        total = trial.summary
        assert total.finished == found.count
        law = (total.arrival_rate or 0) * (total.mean_time_in_system or 0)
        assert total.mean_in_system == pytest.approx(law, rel=1e-12)
        shares = trial.shares
        assert shares["all"].met == total.met == found.count - len(trial.missed)
        assert sum(share.met for name, share in shares.items() if name != "all") == total.met
        assert total.goodput == pytest.approx(total.met / total.window)
        assert max(one.waiting for one in trial.stretches) == total.peak_backlog
        assert sum(one.arrived for one in trial.stretches) == found.count
        assert max(one.pages for one in trial.stretches) == total.peak_pages


@pytest.mark.slow
@settings(max_examples=20)
@given(seed=SEEDS, texts=TEXTS)
def test_the_verdict_is_consistent(seed: int, texts: dict[str, str]) -> None:
    found, mine = task(seed), plan(**texts)
    ran = trials(found, mine)
    seen = verdict(found, mine, ran)
    better = [trial for trial in ran.values() if trial.goodput > ran[YOURS].goodput]
    assert seen.rank == 1 + len(better)
    assert seen.solved == (ran[YOURS].attainment >= 0.9)
    assert seen.pays == pays(ran[YOURS], found)
    for language in ("en", "zh"):
        say = design_words(language)
        assert all(one.sentence(say) for one in (*seen.said, *check(found, mine)))
    keys = [one.key for one in seen.said]
    assert keys[0] == ("said.rank.first" if seen.rank == 1 else "said.rank.behind")
    assert "said.law" in keys


def test_little_over_every_request_by_hand() -> None:
    """The area under the number in the system is the sum of the times in it, tick by tick."""
    found = task(3)
    history = simulate(found.requests, found.built(WORKED))
    total = trials(found, plan(**WORKED))[YOURS].summary
    tick = Fraction(history.service.tick)
    ends = {key: (record.tick + 1) * tick for record in history.records for key, _ in record.finished}
    spent = sum(ends[one.id] - Fraction(one.arrival) for one in found.requests)
    assert total.window == float(max(ends.values()))
    assert total.mean_in_system == pytest.approx(float(spent / max(ends.values())))
    assert total.mean_time_in_system == pytest.approx(float(spent / found.count))


def test_the_limits_are_met_exactly_when_the_engine_says_so() -> None:
    """Times that lie on a limit count as met."""
    found = task(0)
    history = simulate(found.requests, found.built({"max_active": "20"}))
    for ttft, tpot in ((0.3, 0.05), (1.5, 0.1), (0.95, 0.0625)):
        metrics = history.metrics(slo_ttft=ttft, slo_tpot=tpot)
        mine = sum(met(one, (ttft, tpot)) for one in metrics.requests.values())
        assert mine == metrics.summary.met


# ---- who was held by what ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["one_by_one", "big_batches", "open_door"])
def test_every_tick_without_progress_has_its_reason(name: str) -> None:
    """Counted again from the sentences' own source: ``explain``, request by request, tick by tick."""
    found = task(5)
    settings_ = next(one.settings for one in found.baselines if one.name == name)
    history = simulate(found.requests, found.built(settings_))
    counted: Counter[str] = Counter()
    behind: Counter[str] = Counter()
    for record in history.records:
        for key in (*record.waiting, *dict(record.blocked)):
            if key in record.waiting and key in dict(record.blocked):
                continue
            code = explain(record, key).code
            if key in record.waiting and code in ("behind", "filling_batch"):
                behind[explain(record, record.waiting[0]).code] += 1
            else:
                counted[code] += 1
        for key in record.waiting:
            if key in dict(record.blocked):
                counted[explain(record, key).code] += 1
    mine = held(history.records)
    assert {one.code: one.head for one in mine if one.head} == dict(counted)
    assert {one.code: one.behind for one in mine if one.behind} == dict(behind)
    assert all(sum(one.who.values()) == one.ticks for one in mine)


@pytest.mark.slow
def test_each_baseline_is_held_by_what_it_is_known_for() -> None:
    for seed in range(10):
        ran = trials(task(seed), plan(**WORKED))
        assert ran["one_by_one"].held[0].code == "one_at_a_time"
        assert ran["big_batches"].held[0].code == "batch_closed"
        assert ran["open_door"].held[0].code == "no_pages"
        assert ran["open_door"].summary.preemptions > 0


# ---- the first check ---------------------------------------------------------------------------------------


def codes(**texts: str) -> dict[str, str]:
    return {one.code: one.level for one in check(load_task(), plan(**texts))}


@given(time=st.decimals("0.1", "50", places=2))
def test_the_product_and_only_the_product_is_sound(time: Decimal) -> None:
    rate = load_task().rate
    for inside, right in ((rate * time, True), (rate * time * 2, False), (rate * time / 2 + 10, None)):
        texts = {"expect_time": str(time), "expect_inside": f"{inside:.2f}"}
        if right is not None:
            assert sound(load_task(), plan(**texts)) is right
            assert ("little.right" if right else "little.wrong") in codes(**texts)


def test_the_figures_of_the_check_follow_from_the_task() -> None:
    short, long = load_task().classes
    assert (alone(load_task(), short), alone(load_task(), long)) == (0.8, pytest.approx(3.3))
    load = offered(load_task())
    assert load.alone == pytest.approx(0.8 * 0.8 + 0.2 * 3.3)
    assert load.prefill == pytest.approx(4 * (0.8 * 120 + 0.2 * 800))
    assert load.decode == pytest.approx(4 * (0.8 * 15 + 0.2 * 59))
    assert load.seen_tokens == pytest.approx((0.8 * 0.8 * 136 + 0.2 * 3.3 * 860) / 1.3)


def test_a_narrow_door_is_told_beforehand_and_grows() -> None:
    assert codes(policy="immediate")["door.grows"] == "bad"
    assert codes(max_active="4")["door.grows"] == "bad"
    assert codes(max_active="8", expect_time="3", expect_inside="12")["door.waits"] == "doubt"
    assert codes(max_active="8", expect_time="1.5", expect_inside="6")["door.wide"] == "good"
    assert codes()["door.open"] == "note"
    assert codes(policy="static", batch_size="4")["door.batches"] == "bad"
    for seed in range(5):
        ran = trials(task(seed), plan(max_active="4"))
        assert ran[YOURS].stretches[-3].waiting > ran[YOURS].stretches[0].waiting


def test_what_cannot_be_met_or_does_nothing_is_told() -> None:
    assert codes(slo_tpot="0.04")["slo.tpot"] == "bad"
    assert codes(slo_ttft="0.3")["slo.ttft"] == "doubt"
    assert "idle" in codes(batch_size="8")
    assert "idle" not in codes(policy="static", batch_size="8")
    assert codes(expect_time="0.5", expect_inside="2")["little.floor"] == "doubt"
    assert codes(expect_time="5", expect_inside="20")["pool.over"] == "bad"
    assert codes(max_active="24")["slots"] == "doubt"


# ---- predictions, limits, variables ------------------------------------------------------------------------


def test_predictions_are_judged_by_the_run() -> None:
    found = task(7)
    ran = trials(found, plan(**WORKED))
    total = ran[YOURS].summary
    right = {
        "expect_time": f"{total.mean_time_in_system:.2f}",
        "expect_inside": f"{total.mean_in_system:.2f}",
        "expect_goodput": f"{total.goodput:.2f}",
        "expect_rank": "1",
        "expect_pays": pays(ran[YOURS], found),
    }
    wrong = {
        "expect_time": "9",
        "expect_inside": "36",
        "expect_goodput": "0",
        "expect_rank": "4",
        "expect_pays": "same",
    }
    for texts, expected in ((right, True), (wrong, False)):
        judged = verdict(found, plan(**WORKED, **texts), ran).judged
        assert [one.name for one in judged] == list(texts)
        assert all(one.right is expected for one in judged)


def test_a_promise_that_separates_nothing_is_called_so() -> None:
    loose = plan(**WORKED, slo_ttft="900", slo_tpot="9")
    strict = plan(**WORKED, slo_ttft="0.001", slo_tpot="0.1")
    keys = [{one.key for one in verdict(task(), one, trials(task(), one)).said} for one in (loose, strict)]
    assert "said.loose" in keys[0]
    assert "said.strict" in keys[1]
    assert not keys[0] & {"said.strict"}


@given(st.sets(st.sampled_from(list(VARIABLES))))
def test_three_right_and_none_wrong_pass(picked: set[str]) -> None:
    right = sum(VARIABLES[name] for name in picked)
    assert passed(tuple(picked)) == (right >= 3 and right == len(picked))


def test_the_list_has_enough_of_both_and_a_reason_for_each() -> None:
    assert sum(VARIABLES.values()) >= 5
    assert len(VARIABLES) - sum(VARIABLES.values()) >= 4
    for language in ("en", "zh"):
        reasons = [design_words(language)(f"variable.{name}.why") for name in VARIABLES]
        assert len(set(reasons)) == len(VARIABLES)


@pytest.mark.parametrize(
    ("name", "text", "key"),
    [
        ("policy", "fast", "problem.choice"),
        ("batch_size", "0", "problem.whole"),
        ("batch_size", "2.5", "problem.whole"),
        ("max_active", "-1", "problem.limit"),
        ("max_active", "1e3", "problem.limit"),
        ("max_wait", "61", "problem.wait"),
        ("slo_ttft", "0", "problem.number"),
        ("slo_ttft", "nan", "problem.number"),
        ("slo_tpot", "1,5", "problem.number"),
        ("expect_rank", "5", "problem.choice"),
        ("variables", "step_time,burstiness", "problem.several"),
        ("variables", "step_time,luck,burstiness", "problem.choice"),
        ("colour", "blue", "problem.field"),
    ],
)
def test_what_is_no_value_is_a_problem(name: str, text: str, key: str) -> None:
    texts, problems = read({name: text}, required=False)
    assert {one: found.key for one, found in problems.items()} == {name: key}
    assert name not in texts
    for language in ("en", "zh"):
        assert problems[name].sentence(design_words(language))


def test_what_is_asked_for_must_be_there_to_lock() -> None:
    _, problems = read({}, required=True)
    assert set(problems) == {field.name for field in FIELDS if field.default is None}


@given(st.dictionaries(st.sampled_from([*BY_NAME, "x"]), st.text(max_size=60)))
def test_any_texts_are_values_or_problems(raw: dict[str, str]) -> None:
    texts, problems = read(raw, required=True)
    assert texts.keys() | problems.keys() >= BY_NAME.keys()
    assert not texts.keys() & problems.keys()
    again, rest = read(texts, required=False)
    assert rest == {}
    assert texts.items() <= again.items()


def test_full_width_digits_are_digits() -> None:
    texts, problems = read({"slo_ttft": "１．５", "max_active": " 8 "}, required=False)
    assert problems == {}
    assert (texts["slo_ttft"], texts["max_active"]) == ("1.5", "8")


@pytest.mark.parametrize("name", [YOURS, "one_by_one", "big_batches", "open_door"])
def test_a_trial_has_the_figures_of_the_recorded_run(name: str) -> None:
    trial = trials(task(4), plan(**WORKED))[name]
    metrics = simulate(task(4).requests, trial.service).metrics(slo_ttft="1.5", slo_tpot="0.1")
    assert trial.summary == metrics.summary
    assert trial.missed == {one.id for one in metrics.requests.values() if not met(one, (1.5, 0.1))}


def test_the_same_question_is_run_once() -> None:
    mine: Any = plan(**WORKED)
    assert trials(task(9), mine)[YOURS] is trials(task(9), mine)[YOURS]
