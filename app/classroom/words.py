"""The texts of this room."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from app.words import terminal_language
from engine.words import Catalogue, catalogue


def class_words(language: str) -> Catalogue:
    """The texts of the classroom in ``language``. Raises KeyError for an unknown language."""
    return catalogue(Path(__file__).parent, language)


def terminal_words(environment: Mapping[str, str]) -> Catalogue:
    """The texts for whoever types the command, in the language of their terminal."""
    return class_words(terminal_language(environment))
