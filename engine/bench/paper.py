"""Sections as plain text: a title, a sentence on what was measured, an aligned table."""

from __future__ import annotations

from collections.abc import Sequence

from engine.cli.figures import NOTHING
from engine.cli.table import table
from engine.words import Catalogue

LEFT = (
    "way",
    "mode",
    "order",
    "server",
    "format",
    "load",
    "draft",
    "cache",
    "what",
    "curve",
    "accepted_at",
    "model",
    "phase",
    "kind",
)
"""Columns of words; the others hold figures and stand right."""


def page(words: Catalogue, name: str, columns: str, rows: Sequence[Sequence[str]], **values: object) -> str:
    """Title, note and table of section ``name``; ``values`` fill the note's blanks."""
    return "\n".join([heading(words, name, **values), "", grid(words, columns, rows)])


def heading(words: Catalogue, name: str, **values: object) -> str:
    """Title and note of section ``name``."""
    return f"{words(f'bench.title.{name}')}\n{words(f'bench.note.{name}', **values)}"


def grid(words: Catalogue, columns: str, rows: Sequence[Sequence[str]]) -> str:
    """An aligned table; ``columns`` are the names of the columns, with spaces between."""
    names = columns.split()
    align = "".join("l" if name in LEFT else "r" for name in names)
    return table([[words(f"bench.column.{name}") for name in names], *rows], align)


def plain(value: float | None, digits: int = 0) -> str:
    """A figure with thousands set apart."""
    return NOTHING if value is None else f"{value:,.{digits}f}"


def milli(seconds: float, digits: int = 1) -> str:
    """Seconds as milliseconds."""
    return plain(1e3 * seconds, digits)


def micro(seconds: float) -> str:
    """Seconds as whole microseconds."""
    return plain(1e6 * seconds)


def mega(count: float, digits: int = 2) -> str:
    """A count in millions (bytes as MB of 1,000,000)."""
    return plain(count / 1e6, digits)


def ratio(value: float) -> str:
    """How many times."""
    return f"{value:.2f}×"


def bar(value: float, longest: float, columns: int = 40) -> str:
    """A bar whose length is ``value``; ``longest`` fills the ``columns``."""
    return "#" * max(1, round(columns * value / longest))
