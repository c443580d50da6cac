"""The table of what is allowed in which phase, and what becomes of a decision that makes no sense."""

from __future__ import annotations

from typing import Any

import pytest

from app.state.directions import (
    ENDED,
    PHASES,
    RULES,
    Direction,
    direction_of,
    leaps,
    led_now,
    rules_of,
    shown_step,
    ticks_of,
)
from app.store import STEPS, Decided

#          phase       lock   run    verdict again
TABLE = [
    ("free", 1, True, True, True),
    ("closed", None, False, False, False),
    ("vote1", 1, False, False, False),
    ("discuss", None, False, False, False),
    ("vote2", 2, False, False, False),
    ("run", None, True, False, False),
    ("reveal", None, True, True, True),
]


@pytest.mark.parametrize(("phase", "vote", "run", "verdict", "again"), TABLE)
def test_the_table(phase: str, vote: int | None, run: bool, verdict: bool, again: bool) -> None:
    rules = rules_of(Direction(phase), 1)
    assert (rules.vote, rules.run, rules.verdict, rules.again) == (vote, run, verdict, again)


def test_every_phase_has_its_rules() -> None:
    assert set(RULES) == set(PHASES)
    assert all(rules.farthest in STEPS for rules in RULES.values())
    assert [phase for phase, rules in RULES.items() if rules.unobserved] == ["reveal"]


@pytest.mark.parametrize("phase", PHASES)
def test_a_further_attempt_is_free_until_the_class_ends(phase: str) -> None:
    assert rules_of(Direction(phase, 3), 2) == RULES["free"]
    assert ticks_of(Direction(phase, 3), 2) is None


@pytest.mark.parametrize("attempt", [1, 2])
@pytest.mark.parametrize("phase", PHASES)
def test_the_end_of_a_class_opens_nothing_and_takes_no_picture_away(phase: str, attempt: int) -> None:
    before, after = rules_of(Direction(phase), attempt), rules_of(Direction(ENDED, last=phase), attempt)
    assert (after.vote, after.again) == (None, False)
    assert (after.run, after.verdict, after.unobserved) == (before.run, before.verdict, before.unobserved)
    assert after.farthest == ("verdict" if before.farthest == "again" else before.farthest)


def test_a_class_that_ended_in_lock_step_shows_no_further_tick() -> None:
    assert ticks_of(Direction(ENDED, 4, last="run"), 1) == 5
    assert ticks_of(Direction(ENDED, 4, last="reveal"), 1) is None


def test_lock_step_counts_in_the_run_only() -> None:
    assert {phase: ticks_of(Direction(phase, 4), 1) for phase in (*PHASES, ENDED)} == dict.fromkeys(
        (*PHASES, ENDED)
    ) | {"run": 5}
    assert ticks_of(Direction("run"), 1) is None


@pytest.mark.parametrize(
    ("decided", "expected"),
    [
        ({}, Direction()),
        ({"phase": "run", "tick": 7, "show_votes": True}, Direction("run", 7, True)),
        ({"phase": "run", "tick": None}, Direction("run")),
        ({"phase": "party"}, Direction("closed")),
        ({"phase": None}, Direction("closed")),
        ({"phase": "ended"}, Direction("closed")),
        ({"tick": -1}, Direction()),
        ({"tick": True}, Direction()),
        ({"tick": "7"}, Direction()),
        ({"show_votes": 1}, Direction()),
    ],
)
def test_a_decision_that_makes_no_sense_opens_nothing(decided: dict[str, Any], expected: Direction) -> None:
    assert direction_of(decided) == expected


def test_a_class_that_is_over_has_no_other_phase() -> None:
    assert direction_of({"phase": "vote2"}, ended=True) == Direction(ENDED, last="vote2")
    assert direction_of({"phase": "party"}, ended=True) == Direction(ENDED, last="closed")


@pytest.mark.parametrize(
    ("step", "phase", "expected"),
    [
        ("read", "closed", "read"),
        ("run", "vote1", "predict"),
        ("verdict", "discuss", "predict"),
        ("verdict", "run", "observe"),
        ("run", "run", "run"),
        ("again", "reveal", "again"),
        ("verdict", "free", "verdict"),
    ],
)
def test_no_page_shows_a_step_beyond_the_class(step: str, phase: str, expected: str) -> None:
    assert shown_step(step, rules_of(Direction(phase), 1)) == expected


ORDERLY = {("vote2", "run"), ("run", "reveal"), ("reveal", "free"), ("free", "run"), ("free", "reveal")}
LEAPS = {(before, after) for before in ("closed", "vote1", "discuss") for after in ("run", "reveal", "free")}
LEAPS |= {("vote2", "reveal"), ("vote2", "free"), ("run", "free")}


def test_what_opens_the_run_or_the_verdict_out_of_turn_is_a_leap() -> None:
    pairs = {(before, after) for before in PHASES for after in PHASES}
    assert {pair for pair in pairs if leaps(*pair)} == LEAPS
    assert not LEAPS & ORDERLY


@pytest.mark.parametrize(
    ("ended", "newest", "phase", "expected"),
    [
        (False, "main", "vote1", "main"),
        (False, "main", "closed", "main"),
        (False, "main", "free", ""),
        (False, None, None, ""),
        (True, "main", "vote1", ""),
    ],
)
def test_the_class_is_where_something_was_decided_last(
    ended: bool, newest: str | None, phase: str | None, expected: str
) -> None:
    values = {newest: {"phase": phase}} if newest else {}
    assert led_now(Decided(ended, values, newest)) == expected
