"""The texts of free play."""

from __future__ import annotations

from pathlib import Path

from engine.words import Catalogue, catalogue


def play_page_words(language: str) -> Catalogue:
    """The texts of the page in ``language``. Raises KeyError for an unknown language."""
    return catalogue(Path(__file__).parent, language)
