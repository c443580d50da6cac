"""The texts of the transfer task."""

from __future__ import annotations

from pathlib import Path

from engine.words import Catalogue, catalogue


def design_words(language: str) -> Catalogue:
    """The texts in ``language``. Raises KeyError for an unknown language."""
    return catalogue(Path(__file__).parent, language)
