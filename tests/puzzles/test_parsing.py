"""What may be typed into a field, and the sentence for everything else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.words import LANGUAGES
from puzzles import Problem, fields, load, parse, puzzle_words
from puzzles.units import UNITS

MAIN = load("main")
TIME, SIZE, CHOICE = "static.R02.ttft", "R01.kv_mb", "p95.best"


def one(key: str, text: str) -> float | str | Problem | None:
    answers, problems = parse(MAIN, {key: text}, required=False)
    return problems.get(key) or answers.get(key)


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        (TIME, "1.2", 1.2),
        (TIME, " 1.2 s ", 1.2),
        (TIME, "1.2s", 1.2),
        (TIME, "1200 ms", 1.2),
        (TIME, "1200 毫秒", 1.2),
        (TIME, "1.2 秒", 1.2),
        (TIME, "１．２", 1.2),
        (TIME, ".5", 0.5),
        (TIME, "1.", 1.0),
        (TIME, "+1.2", 1.2),
        (TIME, "12e-1", 1.2),
        (TIME, "0", 0.0),
        (TIME, "-0", 0.0),
        (SIZE, "7.5", 7.5),
        (SIZE, "7.5 MB", 7.5),
        (SIZE, "7500 kB", 7.5),
        (SIZE, "7500000 B", 7.5),
        (SIZE, "0.0075 GB", 7.5),
        (CHOICE, "continuous", "continuous"),
        (CHOICE, " Static ", "static"),
    ],
)
def test_what_is_understood(key: str, text: str, value: float | str) -> None:
    assert one(key, text) == value


@pytest.mark.parametrize(
    ("key", "text", "problem"),
    [
        (TIME, "1,2", "problem.comma"),
        (TIME, "1，2", "problem.comma"),
        (TIME, "nan", "problem.number"),
        (TIME, "inf", "problem.number"),
        (TIME, "about one", "problem.number"),
        (TIME, "1.2.3", "problem.number"),
        (TIME, "1/2", "problem.number"),
        (TIME, "0x10", "problem.number"),
        (TIME, "9" * 5000, "problem.number"),
        (TIME, "-1.2", "problem.negative"),
        (TIME, "−1.2 s", "problem.negative"),
        (TIME, "1e99", "problem.huge"),
        (TIME, "1.2 MB", "problem.unit"),
        (TIME, "1.2 min", "problem.unit"),
        (SIZE, "7.5 MiB", "problem.unit"),
        (SIZE, "7.5 s", "problem.unit"),
        (CHOICE, "fastest", "problem.choice"),
        (CHOICE, "1.2", "problem.choice"),
    ],
)
def test_what_is_refused(key: str, text: str, problem: str) -> None:
    found = one(key, text)
    assert isinstance(found, Problem)
    assert found.key == problem
    for language in LANGUAGES:
        sentence = found.sentence(puzzle_words(language))
        assert sentence
        assert "\n" not in sentence
        assert len(sentence) < 160


def test_empty_is_not_zero() -> None:
    answers, problems = parse(MAIN, {TIME: "", "static.R03.ttft": "  "})
    assert TIME not in answers
    assert "static.R03.ttft" not in answers
    assert problems[TIME] == Problem("problem.missing")
    assert "static.R03.ttft" not in problems


def test_every_required_field_is_missed_and_no_other() -> None:
    _, problems = parse(MAIN, {})
    assert problems.keys() == {field.key for field in fields(MAIN) if field.required}
    assert parse(MAIN, {}, required=False) == ({}, {})


def test_an_unknown_field_is_named() -> None:
    _, problems = parse(MAIN, {"static.R09.ttft": "1"}, required=False)
    assert "static.R09.ttft" in problems["static.R09.ttft"].sentence(puzzle_words("en"))


@given(st.text(max_size=60), st.sampled_from([TIME, SIZE, CHOICE]))
def test_any_text_is_an_answer_a_problem_or_empty(text: str, key: str) -> None:
    found = one(key, text)
    if isinstance(found, float):
        assert 0 <= found <= float(max(unit.most for unit in UNITS.values()))
    elif found is None:
        assert not text.strip()
    elif isinstance(found, Problem):
        assert found.sentence(puzzle_words("zh"))
