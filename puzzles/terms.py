"""Which terms of the glossary a text uses, so that they can be explained where they are first met."""

from __future__ import annotations

import re
from typing import NamedTuple

from engine.words import Catalogue
from puzzles.site.glossary import GROUPS

NOTE = re.compile(r"[（(].*?[)）]")  # "TTFT (time to first token)" is written TTFT
BETWEEN = re.compile(r", |、")


class Term(NamedTuple):
    """A term as a reader sees it, and what it means."""

    key: str
    title: str
    meaning: str


def terms_of(text: str, words: Catalogue, always: tuple[str, ...] = ()) -> list[Term]:
    """The terms that ``text`` uses, in the order of the glossary; those of ``always`` in any case."""
    keys = [key for group in GROUPS for key in group.terms]
    return [_term(key, words) for key in keys if key in always or _uses(text, words(f"glossary.{key}.name"))]


def _term(key: str, words: Catalogue) -> Term:
    return Term(key, words(f"glossary.{key}.name"), words(f"glossary.{key}"))


def _uses(text: str, name: str) -> bool:
    spellings = (re.escape(one.strip()) for one in BETWEEN.split(NOTE.sub("", name)))
    whole = rf"(?<![A-Za-z0-9_])(?:{'|'.join(spellings)})s?(?![A-Za-z0-9_])"
    return re.search(whole, text, re.IGNORECASE) is not None
