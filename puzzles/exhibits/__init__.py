"""The exhibits of the rooms: pictures and tables beside the exercises, every figure computed or recorded.

An exhibit is a function from the texts to an ``Exhibit``; its title and lead are ``exhibit.<name>.title`` and
``exhibit.<name>`` in this folder's catalogues. ``exercises/course.toml`` says which room shows it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.words import Catalogue
from puzzles.exhibits.batching import company, neighbour
from puzzles.exhibits.compression import caches, formats, fourteen, large, layers, smaller, weights
from puzzles.exhibits.journey import journey, stations
from puzzles.exhibits.kv import cache_on_off, kv
from puzzles.exhibits.metrics import denominators, percentiles, stopped, tools
from puzzles.exhibits.model import Exhibit
from puzzles.exhibits.phases import attention, fusion, roofline
from puzzles.exhibits.source import page_of
from puzzles.exhibits.speculation import guesses, rounds
from puzzles.render import chart_figure, sheet_table
from puzzles.words import puzzle_words

__all__ = ["EXHIBITS", "exhibit"]

EXHIBITS: dict[str, Callable[[Catalogue], Exhibit]] = {
    "tools": tools,
    "percentiles": percentiles,
    "denominators": denominators,
    "stopped": stopped,
    "neighbour": neighbour,
    "company": company,
    "kv": kv,
    "cache": cache_on_off,
    "roofline": roofline,
    "attention": attention,
    "fusion": fusion,
    "rounds": rounds,
    "guesses": guesses,
    "formats": formats,
    "layers": layers,
    "large": large,
    "caches": caches,
    "smaller": smaller,
    "weights": weights,
    "fourteen": fourteen,
    "journey": journey,
    "stations": stations,
}


def exhibit(name: str, language: str) -> dict[str, Any]:
    """Everything the page prints of the exhibit ``name``. Raises KeyError for an unknown one."""
    words = puzzle_words(language)
    found = EXHIBITS[name](words)
    return {
        "name": name,
        "title": words(f"exhibit.{name}.title"),
        "lead": words(f"exhibit.{name}"),
        "charts": [chart_figure(chart) for chart in found.charts],
        "tables": [sheet_table(sheet) for sheet in found.sheets],
        "points": found.points,
        "notes": found.notes,
        "code": [{"file": page_of(path), "path": path} for path in found.code],
        "answers": found.answers,
    }
