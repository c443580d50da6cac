"""The one loader of texts: a ``.po`` catalogue per room and language, read once."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any

from babel.messages.pofile import read_po

LANGUAGES = ("en", "zh")


class Filler(Formatter):
    """Fills blanks as ``str.format`` does; ``{count:token|tokens}`` is the word that fits the number."""

    def format_field(self, value: Any, format_spec: str) -> str:
        one, bar, many = format_spec.partition("|")
        if not bar:
            return str(super().format_field(value, format_spec))
        return one if str(value) == "1" else many


FILLER = Filler()


class Catalogue:
    """The texts of one room in one language. Call it with a key and the values of its blanks."""

    def __init__(self, language: str, texts: dict[str, str]) -> None:
        self.language = language
        self.texts = texts

    def __call__(self, key: str, **values: object) -> str:
        """The text of ``key``; raises KeyError when the catalogue lacks it."""
        text = self.texts[key]
        return FILLER.format(text, **values) if values else text

    def __contains__(self, key: object) -> bool:
        return key in self.texts


@cache
def catalogue(room: Path, language: str) -> Catalogue:
    """The texts in ``room``/locale/``language``.po. Raises KeyError for an unknown language."""
    if language not in LANGUAGES:
        raise KeyError(f"language {language!r} is not one of {', '.join(LANGUAGES)}")
    with (room / "locale" / f"{language}.po").open("rb") as file:
        messages = read_po(file, locale=language, charset="utf-8")
    return Catalogue(language, {str(m.id): str(m.string) for m in messages if m.id})


def engine_words(language: str) -> Catalogue:
    """The engine's own texts: reasons, refusals, tables of the command line."""
    return catalogue(Path(__file__).parent, language)
