"""The texts of this room, and which language a visitor reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from engine.words import LANGUAGES, Catalogue, catalogue

HTML_LANG = {"en": "en", "zh": "zh-CN"}


def app_words(language: str) -> Catalogue:
    """The texts of app in ``language``. Raises KeyError for an unknown language."""
    return catalogue(Path(__file__).parent, language)


def choose_language(asked: str | None, kept: str | None, accepted: str | None) -> str:
    """The language asked for by the address, else the one kept in the cookie, else the browser's first
    that we have, else English."""
    for name in (asked, kept):
        if name in LANGUAGES:
            return name
    return _accepted(accepted or "") or "en"


def terminal_language(environment: Mapping[str, str]) -> str:
    """The language of whoever sits at the terminal of this process."""
    name = environment.get("LC_ALL") or environment.get("LC_MESSAGES") or environment.get("LANG") or ""
    return choose_language(None, None, name.replace("_", "-").partition(".")[0])


def _accepted(header: str) -> str | None:
    """The best known language of an Accept-Language header such as ``zh-CN,zh;q=0.9,en;q=0.8``."""
    best: dict[str, float] = {}
    for part in header.split(","):
        name, _, weight = part.partition(";q=")
        language = name.strip().lower().partition("-")[0]
        if language in LANGUAGES:
            best[language] = max(best.get(language, 0.0), _weight(weight))
    return max(best, key=lambda language: best[language], default=None)


def _weight(text: str) -> float:
    try:
        return float(text or 1)
    except ValueError:
        return 0.0


def first_argument(arguments: Mapping[str, Sequence[bytes]], name: str) -> str | None:
    """The first value of a query argument, None when it is absent or no text."""
    values = arguments.get(name) or [b""]
    return values[0].decode(errors="replace") or None
