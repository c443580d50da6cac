"""What the views share: titles, the palette, and the sentence of a request in a tick."""

from __future__ import annotations

from engine import History, Reason, TickRecord, explain
from engine.scheduling.explain import sentence
from engine.words import Catalogue, engine_words

PALETTE = 8  # colours of the stylesheet: --request-0 … --request-7


def title(name: str, words: Catalogue) -> str:
    """The title of the run ``name``; a run without one is called by its name."""
    key = f"run.{name}"
    return words(key) if key in words else name


def colours(history: History) -> dict[str, int]:
    """The place of each request in the palette."""
    return {key: place % PALETTE for place, key in enumerate(history.requests)}


def why(record: TickRecord, key: str, arrived: bool, words: Catalogue) -> str:
    """Why ``key`` did or did not go on in this tick, one sentence in the language of ``words``."""
    reason = explain(record, key) if arrived else Reason("not_arrived")
    return sentence(reason, engine_words(words.language))
