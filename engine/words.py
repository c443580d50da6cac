"""The one loader of texts: a ``.po`` catalogue per room and language, read once."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from babel.messages.pofile import read_po

LANGUAGES = ("en", "zh")


class Catalogue:
    """The texts of one room in one language. Call it with a key and the values of its blanks."""

    def __init__(self, language: str, texts: dict[str, str]) -> None:
        self.language = language
        self.texts = texts

    def __call__(self, key: str, **values: object) -> str:
        """The text of ``key``; raises KeyError when the catalogue lacks it."""
        text = self.texts[key]
        return text.format(**values) if values else text

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
