"""The texts of this room, and numbers as a reader sees them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path

from engine.words import Catalogue, catalogue
from puzzles.calculator import MODELS, SHAPE

DASH = "—"  # where there is no value
LONG = re.compile(r"(?<![\w.,])\d{5,}(?![\w])")


@cache
def puzzle_words(language: str) -> Catalogue:
    """The texts of puzzles in ``language``, those of the exhibits too. Raises KeyError for an unknown
    language."""
    room = Path(__file__).parent
    return Catalogue(language, catalogue(room, language).texts | catalogue(room / "exhibits", language).texts)


def number(value: float | int | Fraction | Decimal, places: int = 2) -> str:
    """``value`` with ``places`` decimals, or one more when it needs one: 1.20, 0.825."""
    fraction = value if isinstance(value, Fraction) else Fraction(str(value))
    fits = fraction * 10**places == round(fraction * 10**places)
    return f"{float(fraction):.{places if fits else places + 1}f}"


def plain(value: float | int | Fraction | Decimal) -> str:
    """``value`` without needless zeros: 7.5, 0.1, 24."""
    text = f"{float(value):.6f}".rstrip("0").rstrip(".")
    return text or "0"


def grouped(text: str) -> str:
    """``text`` with commas in its long whole numbers: 262144 is 262,144, and 4096 stays as it is."""
    return LONG.sub(lambda found: f"{int(found[0]):,}", text)


def exact(value: float) -> Fraction:
    """The decimal a reader sees in a float, as a fraction: 0.1 is one tenth."""
    return Fraction(str(value))


def run_name(name: str, words: Catalogue) -> str:
    """The short title of a run, or the words of a choice; what has neither is called by its name."""
    found = next((key for key in (f"run.{name}.short", f"choice.{name}") if key in words), None)
    return words(found) if found else name


def filled_texts(texts: Mapping[str, str], given: Mapping[str, str], words: Catalogue) -> dict[str, str]:
    """``texts`` with the givens in their blanks, as words where they have some; other blanks stay."""
    shown = {f"{{{name}}}": _given(value, words) for name, value in given.items()}
    for name, value in given.items():
        shown |= {f"{{{name}_{figure}}}": text for figure, text in figures_of(value).items()}
    filled = dict(texts)
    for blank, value in shown.items():
        filled = {key: text.replace(blank, value) for key, text in filled.items()}
    return filled


def figures_of(given: str) -> dict[str, str]:
    """What a text may say about a named model: its layers, heads and widths; nothing about other givens."""
    shape = MODELS.get(given)
    return {} if shape is None else {name: str(getattr(shape, name)) for name in SHAPE}


def _given(value: str, words: Catalogue) -> str:
    return words(f"given.{value}") if f"given.{value}" in words else value
