"""The one loader of texts: a ``.po`` catalogue per room and language, read once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any, Protocol

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


# ---- texts that are not in a language yet --------------------------------------------------------

Catalogues = Callable[[str], Catalogue]  # the catalogue of a language


class Phrase:
    """A text in no language yet: a key of a catalogue, and the values of its blanks.

    A value may be a phrase too, or a tuple, which is told as a list; any other value reads the same in
    every language. ``str`` gives the English text.
    """

    def __init__(self, key: str, words: Catalogues = engine_words, **values: object) -> None:
        self.key = key
        self.words = words
        self.values = values

    def told(self, language: str) -> str:
        """The text. Raises KeyError for an unknown language, and for a key its catalogue lacks."""
        values = {name: in_language(value, language) for name, value in self.values.items()}
        return self.words(language)(self.key, **values)

    def __str__(self) -> str:
        return self.told("en")

    def __repr__(self) -> str:
        return f"Phrase({self.key!r}, {self.values})"


Text = str | Phrase


class Tellable(Protocol):
    """What can be told in any language: a phrase, or an error that is one."""

    def told(self, language: str) -> str: ...


def in_every_language(text: Tellable) -> dict[str, str]:
    """What ``text`` says, by language."""
    return {language: text.told(language) for language in LANGUAGES}


def in_language(value: object, language: str) -> str:
    """``value`` as it reads in ``language``."""
    if isinstance(value, Phrase):
        return value.told(language)
    if isinstance(value, tuple):
        separator = engine_words(language)("list.separator")
        return separator.join(in_language(one, language) for one in value)
    return str(value)
