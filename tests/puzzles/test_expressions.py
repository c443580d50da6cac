"""Expressions: what they are worth, what they may name, and what is refused."""

from __future__ import annotations

from fractions import Fraction

import pytest

from engine import InputError
from puzzles import load
from puzzles.expressions import choices_of, evaluate, names_in, sides_of
from puzzles.figures import check_names, finder, runs_in
from puzzles.solving import in_ledger

MAIN = load("main")
FIND = finder(in_ledger(MAIN))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("static.R02.ttft", Fraction(6, 5)),
        ("static.R02.ttft - continuous.R02.ttft", Fraction(11, 10)),
        ("-static.R02.ttft * 2 + 3", Fraction(3, 5)),
        ("(1 + 2) / 4", Fraction(3, 4)),
        ("0.1 + 0.2", Fraction(3, 10)),
        ("floor(7 / 2) + ceil(7 / 2)", 7),
        ("min(3, 1, 2) + max(3, 1, 2)", 4),
        ("tokens_per_round(0.5, 2)", Fraction(7, 4)),
        ("kv.llama_3_8b.per_token / 1024", 128),
        ("static.R02.ttft > continuous.R02.ttft", "holds"),
        ("static.R01.tpot != continuous.R01.tpot", "fails"),
        ("static.throughput == static.tokens / static.window", "holds"),
        ("change(static.R02.ttft, continuous.R02.ttft)", "falls"),
        ("change(static.R01.tpot, continuous.R01.tpot)", "same"),
        ("change(continuous.R02.ttft, static.R02.ttft)", "rises"),
        ("highest(R02=static.R02.ttft, R04=static.R04.ttft)", "R02"),
        ("lowest(static=static.mean_ttft, continuous=continuous.mean_ttft)", "continuous"),
        ("lowest(R01=static.R01.tpot, R02=static.R02.tpot)", None),
        ("1 / (static.R01.ttft - static.R01.ttft)", None),
        ("'falls'", "falls"),
    ],
)
def test_what_an_expression_is_worth(text: str, value: object) -> None:
    assert evaluate(text, FIND) == value


@pytest.mark.parametrize(
    ("text", "choices"),
    [
        ("1 > 2", ("holds", "fails")),
        ("change(1, 2)", ("rises", "same", "falls")),
        ("lowest(a=1, b=2)", ("a", "b")),
        ("1 + 2", None),
        ("static.R02.ttft", None),
    ],
)
def test_what_is_chosen_from(text: str, choices: tuple[str, ...] | None) -> None:
    assert choices_of(text) == choices


def test_names_are_listed_once_and_in_order() -> None:
    text = "b.R01.ttft / (a.ticks + b.R01.ttft) + kv.plain_7b.layers"
    assert names_in(text) == (("b", "R01", "ttft"), ("a", "ticks"), ("kv", "plain_7b", "layers"))
    assert runs_in(text) == ("b", "a")


def test_the_sides_of_a_choice() -> None:
    assert [side.text for side in sides_of("a.ticks > 2 * b.ticks")] == ["a.ticks", "2 * b.ticks"]
    assert [side.name for side in sides_of("lowest(x=a.ticks, y=b.ticks)")] == ["x", "y"]
    assert sides_of("a.ticks + 1") == ()


@pytest.mark.parametrize(
    "text",
    [
        "static.R02.",
        "1 +",
        "print(1)",
        "__import__('os')",
        "[1, 2]",
        "static.R02.ttft if 1 else 2",
        "(lambda: 1)()",
        "",
    ],
)
def test_what_is_no_expression_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        names_in(text)


@pytest.mark.parametrize(
    "text",
    [
        "statik.R02.ttft",
        "static.R09.ttft",
        "static.R02.speed",
        "static.R02",
        "ticks",
        "kv.llama_3_8b.size",
        "recorded.int3.loss",
    ],
)
def test_a_name_that_points_nowhere_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="not a figure"):
        check_names(text, MAIN)


def test_an_unknown_model_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="llama_3_8b"):
        check_names("kv.gpt.layers", MAIN)
