"""Dead switches and differences: decided by runs, and told by the records."""

from __future__ import annotations

from decimal import Decimal
from string import Formatter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine import Request, Service, Stalled, simulate
from engine.service import SETTINGS
from engine.traces import main_trace
from engine.words import LANGUAGES
from puzzles.play import Side, Switch, differences, play_words, probe, verdict_text
from puzzles.play.dead_switches import PROBED
from puzzles.play.trials import trials
from tests.engine import random_runs

WORDS = play_words("en")


def switches(trace: list[Request] | None = None, **service: Any) -> dict[str, Switch]:
    requests, chosen = trace or main_trace(), Service(**service)
    return {found.name: found for found in probe(requests, chosen, simulate(requests, chosen))}


def changes(switch: Switch) -> dict[str, bool]:
    """By value tried: whether a request's times change."""
    return {trial.value: bool(trial.changed) for trial in switch.trials}


# ---- the table of dead and living switches of R01–R04 --------------------------------------------------


@pytest.mark.parametrize("tick", ["0.1", "0.5", "1.0"])
def test_decode_slots(tick: str) -> None:
    found = changes(switches(tick=tick)["decode_slots"])
    assert found["1"]
    assert found["2"]
    assert found["4"] is (tick != "0.1")


@pytest.mark.parametrize(
    ("tick", "slots", "alive"),
    [
        ("0.1", 3, set()),
        ("0.5", 3, {"shortest"}),
        ("1.0", 3, {"shortest"}),
        ("0.1", 2, {"shortest"}),
        ("0.5", 2, {"shortest", "round_robin"}),
        ("1.0", 2, {"shortest", "round_robin"}),
    ],
)
def test_decode_order(tick: str, slots: int, alive: set[str]) -> None:
    found = changes(switches(tick=tick, decode_slots=slots)["decode_order"])
    assert {value for value, changed in found.items() if changed} == alive


@pytest.mark.parametrize("tick", ["0.1", "0.5", "1.0"])
def test_prefill_budget_binds_up_to_17(tick: str) -> None:
    found = changes(switches(tick=tick)["prefill_budget"])
    assert found["17"]
    assert not any(changed for value, changed in found.items() if int(value) >= 18)
    assert "never more than 18 prompt tokens" in verdict_text({"c": switches()["prefill_budget"]}, WORDS)


@pytest.mark.parametrize(
    ("tick", "alive"),
    [("0.1", set(range(2, 7))), ("0.5", {*range(2, 7), 9, 10}), ("1.0", {*range(2, 7), 9, 10})],
)
def test_chunked_prefill(tick: str, alive: set[int]) -> None:
    found = {
        budget
        for budget in range(1, 25)
        if switches(tick=tick, prefill_budget=budget)["chunked_prefill"].trials[0].moved
    }
    assert found == alive


@pytest.mark.parametrize(("tick", "alive"), [("0.1", {1, 2}), ("0.5", {1, 2, 3}), ("1.0", {1, 2, 3})])
def test_max_active(tick: str, alive: set[int]) -> None:
    assert {
        n for n in range(1, 6) if changes(switches(tick=tick, max_active=n)["max_active"])["none"]
    } == alive


@pytest.mark.parametrize(("tick", "most"), [("0.1", 46), ("0.5", 54), ("1.0", 54)])
def test_kv_tokens(tick: str, most: int) -> None:
    def bites(pages: int) -> bool:
        return changes(switches(tick=tick, page_size=1, pages=pages)["pages"])["none"]

    assert bites(most)
    assert not bites(most + 1)


def test_a_switch_that_only_moves_the_start_of_a_prefill_says_so() -> None:
    found = switches(prefill_budget=10)["chunked_prefill"]
    assert found.trials[0].changed == ("R02",)
    assert found.trials[0].moved == ()
    text = verdict_text({"c": found}, WORDS)
    assert text == "chunked_prefill false would change when the prefill of R02 begins, and no token's time."


def test_three_prompts_at_once_bring_chunking_to_life() -> None:
    together = [Request("R01", "0", 18, 2), Request("R02", "0", 8, 2), Request("R03", "0", 20, 2)]
    found = switches(together, pages=None)["chunked_prefill"]
    assert changes(found) == {"false": True}
    assert found.trials[0].changed == ("R02", "R03")


# ---- why ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("decode_order", "never more than 3 requests want a decode slot in one tick"),
        ("chunked_prefill", "every prompt fits whole into one tick's budget"),
        ("queue_order", "nobody is left waiting after a tick's admission"),
        ("kv_reserve", "nobody ever waits for KV: at most 13 are in use; only memory figures change"),
        ("batch_size", "it belongs to the static policy"),
        ("max_len", "it belongs to kv_layout contiguous"),
        ("speculate", "needs the torch engine"),
    ],
)
def test_a_dead_switch_says_why(name: str, said: str) -> None:
    text = verdict_text({"continuous": switches()[name]}, WORDS)
    assert text.startswith("No effect on this trace, because ")
    assert said in text


def test_more_of_what_there_is_enough_of_does_nothing() -> None:
    text = verdict_text({"c": switches()["decode_slots"]}, WORDS)
    assert text.startswith("decode_slots 2 would change R04. More has no effect on this trace, because never")


def test_a_trace_of_lengths_has_no_prefix_to_share() -> None:
    counts = [Request(r.id, r.arrival, r.prompt_tokens, r.output_tokens) for r in main_trace()]
    assert "only lengths" in verdict_text({"c": switches(counts)["prefix_cache"]}, WORDS)


def test_several_runs_are_told_in_one_sentence() -> None:
    runs = {policy: switches(policy=policy) for policy in ("immediate", "static", "continuous")}
    told = {name: verdict_text({p: found[name] for p, found in runs.items()}, WORDS) for name in PROBED}
    assert told["batch_size"].startswith("Matters under static: ")
    assert told["decode_order"].startswith("No effect on this trace")
    assert told["decode_order"].count("because") == 1


def test_a_value_that_stalls_the_run_is_told() -> None:
    requests = [Request("R01", "0", 4, 2), Request("R02", "0", 4, 2)]
    for name, switch in switches(requests, pages=3, kv_layout="contiguous_exact").items():
        assert isinstance(verdict_text({"c": switch}, WORDS), str), name


@settings(max_examples=120, suppress_health_check=[HealthCheck.too_slow])
@given(random_runs.traces(most=5), random_runs.services(), st.data())
def test_no_switch_is_called_dead_that_is_alive(trace: Any, service: Service, data: Any) -> None:
    """What a reason says of every value, tried with values that nobody has tried before."""
    try:
        history = simulate(trace, service)
    except Stalled:
        return
    found = {switch.name: switch for switch in probe(trace, service, history)}
    before = history.metrics().requests
    for name in ("decode_slots", "prefill_budget", "shared_budget", "max_active", "pages"):
        switch = found[name]
        value = getattr(service, name)
        if not switch.because.endswith("spare") or (value is None and not switch.dead):
            continue
        fact = {
            "decode_slots": "ready",
            "prefill_budget": "prefill",
            "shared_budget": "tokens",
            "max_active": "active",
            "pages": "pages",
        }[name]
        least = max(getattr(switch.facts, fact), value or 1, 1)
        more = data.draw(st.integers(least, least + 30), label=name)
        after = simulate(trace, service.replace(**{name: more})).metrics().requests
        assert after == before, (name, more)


@settings(max_examples=60)
@given(random_runs.traces(most=5), random_runs.services())
def test_every_setting_is_probed_on_any_run(trace: Any, service: Service) -> None:
    try:
        found = list(probe(trace, service, simulate(trace, service)))
    except Stalled:
        return
    assert tuple(switch.name for switch in found) == PROBED
    for switch in found:
        for language in LANGUAGES:
            text = verdict_text({"run": switch}, play_words(language))
            assert "{" not in text
        assert switch.value not in {trial.value for trial in switch.trials}


def test_a_trial_is_another_value_that_can_be_set() -> None:
    service = Service()
    found = next(iter(switches().values())).facts
    for name in PROBED:
        for value in trials(name, service, found):
            assert service.replace(**{name: value}) != service


# ---- differences -----------------------------------------------------------------------------------------


def side(trace: list[Request] | None = None, **service: Any) -> Side:
    history = simulate(trace or main_trace(), Service(**service))
    return Side(history.service, history.requests, history.metrics("0.5", "0.15"), history.records)


def test_equal_runs_do_not_differ() -> None:
    found = differences(side(), side(), WORDS)
    assert found.none
    assert found.first is None


def test_only_what_changed_is_listed() -> None:
    found = differences(side(tick="1.0"), side(tick="1.0", decode_slots=4), WORDS)
    assert [(c.name, c.a, c.b) for c in found.settings] == [("decode_slots", "3", "4")]
    assert found.trace == ()
    assert [(c.of, c.name, c.a, c.b) for c in found.requests] == [
        ("R04", "tpot", "2.000", "1.000"),
        ("R04", "e2e", "3.620", "2.620"),
    ]
    assert {c.name for c in found.summary} == {
        *("mean_tpot", "p95_tpot", "mean_itl", "mean_e2e", "peak_held_tokens", "peak_written_tokens"),
    }
    assert found.first is not None
    assert found.first.tick == 2
    assert [line.name for line in found.first.lines] == ["R04"]
    assert found.first.lines[0].a.startswith("Waits for a decode slot: 4 requests are ready")
    assert found.first.lines[0].b == "Output token 2 is the last: finished."


def test_a_setting_that_does_nothing_is_all_that_differs() -> None:
    found = differences(side(), side(decode_slots=4), WORDS)
    assert [c.name for c in found.settings] == ["decode_slots"]
    assert (found.first, found.requests, found.summary) == (None, (), ())
    assert not found.none


def test_the_same_as_static_with_32_tokens_of_kv() -> None:
    found = differences(side(policy="static"), side(page_size=1, pages=32), WORDS)
    assert found.requests == ()
    assert {c.name for c in found.settings} == {"policy", "page_size", "pages"}


def test_another_trace_is_told_request_by_request() -> None:
    other = [*main_trace()[:2], Request("R09", Decimal("0.3"), 5, 2)]
    found = differences(side(), side(other), WORDS)
    assert [c.name for c in found.trace] == ["R03", "R04", "R09"]
    assert found.trace[0].b == "not in this trace"
    assert found.trace[2].b == "arrives at 0.3 s, 5 + 2 tokens"
    assert found.first is not None
    assert found.first.tick == 3


def test_a_run_that_ends_earlier_differs_where_it_ends() -> None:
    long = [Request("R01", "0", 4, 6)]
    short = [Request("R01", "0", 4, 3)]
    found = differences(side(long), side(short), WORDS)
    assert found.first is not None
    assert found.first.tick == 2
    assert found.first.lines[0].b == "Output token 3 is the last: finished."


@settings(max_examples=80)
@given(random_runs.traces(most=5), random_runs.services(), random_runs.services())
def test_nothing_that_differs_is_left_out(trace: Any, one: Service, other: Service) -> None:
    try:
        a, b = (simulate(trace, service) for service in (one, other))
    except Stalled:
        return
    found = differences(
        *(Side(h.service, h.requests, h.metrics(), h.records) for h in (a, b)), play_words("zh")
    )
    changed = {name for name in SETTINGS if getattr(one, name) != getattr(other, name)}
    assert {c.name for c in found.settings} == changed
    same = [r.without_tokens() for r in a.records] == [r.without_tokens() for r in b.records]
    if same and one.tick == other.tick:
        assert found.first is None
        assert found.requests == ()
    if found.first is None and one.tick == other.tick:
        assert a.metrics().requests == b.metrics().requests
    for change in (*found.requests, *found.summary):
        assert change.a != change.b


# ---- texts ---------------------------------------------------------------


def test_both_languages_say_the_same_things() -> None:
    english, chinese = (play_words(language).texts for language in LANGUAGES)
    assert english.keys() == chinese.keys()
    for key, text in english.items():
        blanks = [{n for _, n, _, _ in Formatter().parse(one) if n} for one in (text, chinese[key])]
        assert blanks[0] == blanks[1], key
        assert chinese[key].strip()
