"""What a learner typed, as values; and one clear sentence for each thing that is no value."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from decimal import Decimal

import msgspec

from engine.words import Catalogue
from puzzles.asking import Field, fields
from puzzles.exercise import Exercise
from puzzles.units import UNITS, at_least

NUMBER = re.compile(
    r"(>=|≥)?\s*([+-]?)((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?)\s*([^\W\d_]*(?:/[A-Za-z]+)?|%|×)"
)
LONGEST = 40  # characters: more is no number
SHOWN = 20  # characters of a wrong text that its sentence repeats


class Problem(msgspec.Struct, frozen=True):
    """Why a text is no answer: a key of the catalogue, and the values of its blanks."""

    key: str
    values: dict[str, str] = {}

    def sentence(self, words: Catalogue) -> str:
        """The problem in words, one sentence."""
        return words(self.key, **self.values)


Answers = dict[str, float | str]
Problems = dict[str, Problem]


def parse(exercise: Exercise, raw: Mapping[str, str], required: bool = True) -> tuple[Answers, Problems]:
    """The answers in ``raw`` by field key, and the problems by key.

    Empty is no answer; it is a problem only for a required field (``required`` False: never).
    """
    known = {field.key: field for field in fields(exercise)}
    answers: Answers = {}
    problems = {key: Problem("problem.field", {"name": _short(key)}) for key in raw if key not in known}
    for key, field in known.items():
        found = _value(field, _tidy(raw.get(key) or ""))
        if isinstance(found, Problem):
            problems[key] = found
        elif found is not None:
            answers[key] = found
        elif required and field.required:
            problems[key] = Problem("problem.missing")
    return answers, problems


def _tidy(text: str) -> str:
    """Full-width digits and signs as plain ones, without spaces at the ends."""
    return unicodedata.normalize("NFKC", text).strip().replace("\N{MINUS SIGN}", "-")


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"


def _value(field: Field, text: str) -> float | str | Problem | None:
    if not text:
        return None
    return _choice(field.choices, text) if field.choices is not None else _number(field, text)


def _choice(choices: tuple[str, ...], text: str) -> str | Problem:
    found = {choice.lower(): choice for choice in choices}.get(text.lower())
    if found is not None:
        return found
    return Problem("problem.choice", {"text": _short(text), "choices": ", ".join(choices)})


def _number(field: Field, text: str) -> float | str | Problem:
    match = NUMBER.fullmatch(text) if len(text) <= LONGEST else None
    if match is None:
        return _no_number(field, text)
    bound, sign, digits, unit = match.groups()
    known = UNITS[field.unit]
    scale = known.scales.get(unit.lower()) if unit else Decimal(1)
    if scale is None:
        return Problem("problem.unit", {"unit": _short(unit), "right": field.unit})
    value = Decimal(digits) * scale
    if sign == "-" and value:
        return Problem("problem.negative", {"text": _short(text)})
    if value > known.most:
        return Problem("problem.huge", {"text": _short(text), "most": f"{known.most:f} {field.unit}"})
    return at_least(float(value)) if bound else float(value)


def _no_number(field: Field, text: str) -> Problem:
    """The sentence for a text that is no number: a decimal comma is the one worth its own."""
    if re.fullmatch(r"[+-]?[0-9]+,[0-9]+.*", text) and len(text) <= LONGEST:
        return Problem("problem.comma", {"text": _short(text), "right": _short(text.replace(",", "."))})
    example = f"{UNITS[field.unit].example} {field.unit}"
    return Problem("problem.number", {"text": _short(text), "example": example})
