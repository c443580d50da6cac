"""Seeds: every variant can be solved, has one answer, and no belief gives the right value."""

from __future__ import annotations

import pytest

from engine import InputError
from puzzles import Exercise, fields, load, names, solve
from puzzles.asking import right
from puzzles.mistakes import all_wrong
from puzzles.units import bound_of
from puzzles.variants import must_be_caught, teaches

FEW, MANY = range(1, 4), range(1, 51)


def prove(one: Exercise) -> None:
    """That a variant can be solved, its answers are unique, and what it must catch is wrong."""
    assert teaches(one), f"{one.name} {one.seed}"
    correct, found = solve(one), fields(one)
    by_key = {field.key: field for field in found}
    assert correct.keys() == by_key.keys()
    assert None not in correct.values()
    for field in found:
        prove_unique(one, field.key)
    wrong = all_wrong(one, list(found), correct)
    assert {name for _, name in wrong} >= must_be_caught(one)
    for (key, _), values in wrong.items():
        for value in values:
            given = value if isinstance(value, str) else float(value)
            assert not right(by_key[key], given, correct[key]), f"{one.name} {one.seed} {key}"


def prove_unique(one: Exercise, key: str) -> None:
    """A choice has one best; a number is right only for itself and what is nearer than the tolerance."""
    field, correct = {field.key: field for field in fields(one)}[key], solve(one)[key]
    if field.choices:
        assert [name for name in field.choices if right(field, name, correct)] == [correct]
    elif isinstance(correct, str):
        assert bound_of(correct) is not None
        assert right(field, correct, correct)
        assert not right(field, float(bound_of(correct) or 0), correct)
    else:
        assert correct is not None
        edge = correct + field.tolerance + 1e-9
        assert right(field, correct, correct)
        assert not right(field, edge, correct)


@pytest.mark.parametrize("name", names())
def test_the_exercise_and_some_variants_hold(name: str) -> None:
    for seed in (0, *FEW):
        prove(load(name).variant(seed))


@pytest.mark.slow
@pytest.mark.parametrize("name", names())
def test_fifty_variants_hold(name: str) -> None:
    for seed in MANY:
        prove(load(name).variant(seed))


@pytest.mark.parametrize("name", names())
def test_equal_seeds_give_equal_traces_and_others_differ(name: str) -> None:
    variants = [load(name).variant(seed) for seed in FEW]
    assert load(name).variant(2) == variants[1]
    assert len({(one.requests, *one.given.items()) for one in variants}) > 1


@pytest.mark.parametrize("name", names())
def test_prompts_are_as_long_as_they_say_in_every_run(name: str) -> None:
    for seed in (0, 1):
        one = load(name).variant(seed)
        for run in one.runs:
            for request in one.requests_of(run.name):
                assert len(str(request.prompt).encode()) == request.prompt_tokens


def test_only_the_slow_machine_contests_its_slots() -> None:
    """At the usual tick every TPOT is one tick, in every variant: that is what the second part is about."""
    for seed in range(1, 21):
        correct = solve(load("main").variant(seed))
        usual = [value for key, value in correct.items() if key.endswith("tpot") and key[:4] != "slow"]
        assert set(usual) == {0.1}
        assert correct["slow.R04.tpot"] >= 2 * correct["slow.R01.tpot"]  # type: ignore[operator]


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
