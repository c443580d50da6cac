"""The page of the calculators, made from what a visitor typed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from app.calculators.fields import CALCULATORS, Choice, Field, Wrong, default, parse_all
from app.calculators.results import Line, results
from app.pages.template import environment, frame
from engine.words import Catalogue, catalogue
from puzzles.calculator import MODELS
from puzzles.words import puzzle_words

HERE = Path(__file__).parent
ROOT = "../"  # from /lab/calculators to the addresses of the lab
TEXT_LENGTH = 60  # characters of a field that come back


class Asked(msgspec.Struct, frozen=True):
    """A field as the page shows it: ``options`` of a choice by name, ``problem`` a sentence or empty."""

    name: str
    label: str
    text: str
    unit: str
    options: dict[str, str]
    problem: str


class Card(msgspec.Struct, frozen=True):
    """One calculator: its fields, and its results, or the sentence that says why there are none."""

    name: str
    fields: list[Asked]
    lines: list[Line]
    problem: str


def calculator_words(language: str) -> Catalogue:
    """The texts of this room."""
    return catalogue(HERE, language)


def calculators_page(language: str, typed: Mapping[str, str]) -> str:
    """HTML of the page; ``typed`` are the fields of the address."""
    source = (HERE / "templates" / "calculators.html.j2").read_text("utf-8")
    told = calculator_words(language)
    cards = [card(name, typed, language) for name in CALCULATORS]
    context: dict[str, Any] = frame(language, root=ROOT) | {"t": told, "cards": cards}
    return environment().from_string(source).render(**context)


def card(name: str, typed: Mapping[str, str], language: str) -> Card:
    """One calculator with what was typed; what was not typed is as it stands."""
    words = calculator_words(language)
    asked = CALCULATORS[name]
    here = typed if typed.get("calculator") == name else {}
    texts = {field.name: here.get(field.name, default(field)) for field in asked}
    texts |= _shape_of(texts.get("model", ""))
    values, wrong = parse_all(asked, texts)
    lines: list[Line] = []
    problem = ""
    if not wrong:
        try:
            lines = results(name, values, words)
        except Wrong as error:
            problem = error.sentence(words)
    shown = [_asked(field, texts[field.name], wrong.get(field.name), words) for field in asked]
    return Card(name, shown, lines, problem)


def _shape_of(model: str) -> dict[str, str]:
    """The fields of a named model's shape, so that they show what is computed with."""
    shape = MODELS.get(model)
    if shape is None:
        return {}
    latent = "" if shape.latent is None else str(shape.latent)
    found = {name: str(getattr(shape, name)) for name in ("layers", "kv_heads", "head_dim")}
    return found | {"latent": latent}


def _asked(field: Field, text: str, wrong: Wrong | None, words: Catalogue) -> Asked:
    return Asked(
        name=field.name,
        label=words(f"field.{field.name}"),
        text=text[:TEXT_LENGTH],
        unit="" if isinstance(field, Choice) else field.unit,
        options=_options(field, words) if isinstance(field, Choice) else {},
        problem=wrong.sentence(words) if wrong else "",
    )


def _options(field: Choice, words: Catalogue) -> dict[str, str]:
    named = puzzle_words(words.language)
    return {
        name: named(f"given.{name}") if name in MODELS else words(f"choice.{field.name}.{name}")
        for name in field.names
    }
