"""The texts of this room; those of the task itself are in ``puzzles.design``."""

from __future__ import annotations

from pathlib import Path

from engine.words import Catalogue, catalogue


def page_words(language: str) -> Catalogue:
    """The texts of the page in ``language``. Raises KeyError for an unknown language."""
    return catalogue(Path(__file__).parent, language)
