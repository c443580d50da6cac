"""Fifty seeds: every variant can be solved, has one answer, and no belief gives the right value."""

from __future__ import annotations

import pytest

from engine import InputError
from puzzles import Exercise, fields, load, names, solve
from puzzles.asking import right
from puzzles.beliefs import all_wrong
from puzzles.variants import teaches

SEEDS = range(1, 51)
EXERCISES = [load(name) for name in names()]


@pytest.fixture(scope="module", params=EXERCISES, ids=lambda one: one.name)
def variants(request: pytest.FixtureRequest) -> list[Exercise]:
    return [request.param.variant(seed) for seed in SEEDS]


def test_every_variant_is_solvable(variants: list[Exercise]) -> None:
    for one in variants:
        correct = solve(one)
        assert correct.keys() == {field.key for field in fields(one)}
        assert None not in correct.values()
        assert teaches(one)


def test_answers_are_unique_within_tolerance(variants: list[Exercise]) -> None:
    """A choice has one best; a number is right only for itself and what is nearer than the tolerance."""
    for one in variants:
        correct = solve(one)
        for field in fields(one):
            if field.choices:
                assert [name for name in field.choices if right(field, name, correct[field.key])] == [
                    correct[field.key]
                ]
            else:
                edge = correct[field.key] + field.tolerance + 1e-9  # type: ignore[operator]
                assert right(field, correct[field.key], correct[field.key])  # type: ignore[arg-type]
                assert not right(field, edge, correct[field.key])


def test_no_belief_gives_the_right_value(variants: list[Exercise]) -> None:
    for one in variants:
        correct, found = solve(one), fields(one)
        by_key = {field.key: field for field in found}
        for (key, _), values in all_wrong(one, list(found), correct).items():
            for value in values:
                given = value if isinstance(value, str) else float(value)
                assert not right(by_key[key], given, correct[key])


def test_the_beliefs_that_must_be_caught_are(variants: list[Exercise]) -> None:
    for one in variants:
        caught = {name for _, name in all_wrong(one, list(fields(one)), solve(one))}
        assert caught >= set(one.variants.caught)


def test_only_the_slow_machine_contests_its_slots(variants: list[Exercise]) -> None:
    """At the usual tick every TPOT is one tick, in every variant: that is what the second part is about."""
    for one in variants:
        correct = solve(one)
        usual = [value for key, value in correct.items() if key.endswith("tpot") and key[:4] != "slow"]
        assert set(usual) == {0.1}
        assert correct["slow.R04.tpot"] >= 2 * correct["slow.R01.tpot"]  # type: ignore[operator]


def test_equal_seeds_give_equal_traces(variants: list[Exercise]) -> None:
    for one in variants[:5]:
        assert load(one.name).variant(one.seed) == one
    assert len({one.requests for one in variants}) == len(variants)


def test_prompts_are_as_long_as_they_say(variants: list[Exercise]) -> None:
    for one in variants:
        assert all(len(str(request.prompt).encode()) == request.prompt_tokens for request in one.requests)


@pytest.mark.parametrize("seed", [0, None])
def test_seed_zero_is_the_exercise_itself(seed: int | None) -> None:
    main = load("main")
    assert main.variant(seed) is main
    assert [request.id for request in main.requests] == ["R01", "R02", "R03", "R04"]


@pytest.mark.parametrize("seed", [-1, True, 1.5, "7"])
def test_a_seed_that_is_no_whole_number_is_refused(seed: object) -> None:
    with pytest.raises(InputError, match="seed"):
        load("main").variant(seed)  # type: ignore[arg-type]


def test_a_seed_is_the_same_trace_everywhere() -> None:
    """Written down once: a change here breaks every link to a variant."""
    drawn = [(str(r.arrival), r.prompt_tokens, r.output_tokens) for r in load("main").variant(7).requests]
    assert drawn == [("0", 22, 13), ("0.05", 4, 4), ("0.16", 3, 4), ("0.37", 8, 3)]
