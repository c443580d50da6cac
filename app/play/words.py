"""The texts of free play."""

from __future__ import annotations

from pathlib import Path

from engine import InputError
from engine.words import Catalogue, Text, catalogue


def play_page_words(language: str) -> Catalogue:
    """The texts of the page in ``language``. Raises KeyError for an unknown language."""
    return catalogue(Path(__file__).parent, language)


def beyond(code: str, where: Text, **values: object) -> InputError:
    """What this page does not take, as ``refuse.<code>`` says it, found at ``where``."""
    return InputError.of(code, at=where, words=play_page_words, **values)
