"""The rule card: how the toy works, in ten lines, with the exercise's own settings."""

from __future__ import annotations

from engine.words import Catalogue
from puzzles.comparison import DASH
from puzzles.exercise import Exercise
from puzzles.measures import megabytes
from puzzles.words import number, plain

RULES = ("tick", "prefill", "decode", "first", "queue", "immediate", "static", "continuous", "kv", "toy")


def rule_lines(exercise: Exercise, words: Catalogue) -> list[str]:
    """The rules as sentences."""
    blanks = rule_blanks(exercise)
    return [words(f"rule.{name}", **blanks) for name in RULES]


def rule_blanks(exercise: Exercise) -> dict[str, str]:
    """The settings that the rules name: those of the first run."""
    service = exercise.service_of(exercise.runs[0].name)
    return {
        "tick": number(service.tick, 1),
        "budget": str(service.prefill_budget),
        "slots": str(service.decode_slots),
        "batch": str(service.batch_size),
        "page": str(service.page_size),
        "pages": str(service.pages or DASH),
        "tokens": str(service.slots or DASH),
        "k": plain(megabytes(1, service)),
    }
