"""Units and bounds: what may be typed, how near is right, how a value is printed."""

from __future__ import annotations

import pytest

from puzzles import Problem, field_of, load, parse, puzzle_words
from puzzles.asking import right
from puzzles.units import UNITS, at_least, bound_of, printed

CENSORED = load("censored-p95")
P95 = "cut.p95_e2e"


def one(exercise: str, key: str, text: str) -> float | str | Problem | None:
    answers, problems = parse(load(exercise), {key: text}, required=False)
    return problems.get(key) or answers.get(key)


@pytest.mark.parametrize("text", [">=1.0", ">= 1.0", "≥1.0", "≥ 1 s", "＞＝１．０", ">=1000 ms"])
def test_a_bound_can_be_typed(text: str) -> None:
    found = one("censored-p95", P95, text)
    assert found == "≥ 1.00"
    assert right(field_of(CENSORED, P95), str(found), "≥ 1.00")


@pytest.mark.parametrize(
    ("text", "fits"), [("≥1.04", True), ("≥0.96", True), ("≥1.05", False), ("1.0", False)]
)
def test_a_bound_is_right_when_it_is_one_and_near(text: str, fits: bool) -> None:
    found = one("censored-p95", P95, text)
    assert isinstance(found, float | str)
    assert right(field_of(CENSORED, P95), found, "≥ 1.00") is fits


def test_a_bound_is_wrong_where_the_value_is_known() -> None:
    field = field_of(load("p95-of-four"), "immediate.p95_ttft")
    assert not right(field, "≥ 1.42", 1.42)
    assert right(field, 1.42, 1.42)


@pytest.mark.parametrize(
    ("exercise", "key", "text", "value"),
    [
        ("kv-heads", "token", "128 KiB", 131_072.0),
        ("kv-heads", "token", "131072", 131_072.0),
        ("kv-heads", "token", "131072 bytes", 131_072.0),
        ("goodput", "static.goodput", "0.67 req/s", 0.67),
        ("goodput", "static.attainment", "25 %", 25.0),
        ("goodput", "static.attainment", "25%", 25.0),
        ("goodput", "static.good_tokens", "8 tok/s", 8.0),
        ("peak-kv", "continuous.peak_held", "41 tokens", 41.0),
        ("peak-kv", "continuous.peak_held", "41", 41.0),
        ("ten-times-slower", "pace", "20 ×", 20.0),
        ("ten-times-slower", "pace", "20x", 20.0),
        ("short-prompt", "best", "r01", "R01"),
        ("throughput-goodput", "service", "Rises", "rises"),
    ],
)
def test_every_unit_is_understood(exercise: str, key: str, text: str, value: float | str) -> None:
    assert one(exercise, key, text) == value


@pytest.mark.parametrize(
    ("exercise", "key", "text", "problem"),
    [
        ("goodput", "static.goodput", "0.67 tok/s", "problem.unit"),
        ("peak-kv", "continuous.peak_held", "41 pages", "problem.unit"),
        ("throughput-goodput", "service", "better", "problem.choice"),
        ("censored-p95", P95, ">=", "problem.number"),
        ("censored-p95", P95, "≥ -1", "problem.negative"),
    ],
)
def test_what_is_refused(exercise: str, key: str, text: str, problem: str) -> None:
    found = one(exercise, key, text)
    assert isinstance(found, Problem)
    assert found.key == problem


def test_bounds_are_written_and_read_the_same_way() -> None:
    assert at_least(1.25) == "≥ 1.25"
    assert bound_of("≥ 1.25") == 1.25
    assert bound_of("continuous") is None


@pytest.mark.parametrize(
    ("value", "unit", "english", "chinese"),
    [
        (1.0, "requests", "1 request", "1 个请求"),
        (2.0, "requests", "2 requests", "2 个请求"),
        (12.6666667, "tok/s", "12.667 tok/s", "12.667 tok/s"),
        (0.1, "s", "0.10 s", "0.10 s"),
        (7.5, "MB", "7.5 MB", "7.5 MB"),
        (4096.0, "B", "4096 B", "4096 B"),
        (131_072.0, "B", "131,072 B", "131,072 B"),
    ],
)
def test_a_value_is_printed_with_its_unit(value: float, unit: str, english: str, chinese: str) -> None:
    assert printed(value, unit, puzzle_words("en")) == english
    assert printed(value, unit, puzzle_words("zh")) == chinese


def test_the_example_of_every_unit_can_be_typed() -> None:
    for unit in UNITS.values():
        assert float(unit.example) <= unit.most
        assert unit.scales.get(unit.name.lower()) == 1
