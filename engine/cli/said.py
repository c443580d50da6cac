"""What the requests of a torch run have said; nothing for a ledger's, whose tokens have no values."""

from __future__ import annotations

import json

from engine.cli.table import printable
from engine.history import History
from engine.model.tokens import decode
from engine.words import Catalogue

MOST_SIGNS = 72


def said(history: History | None) -> dict[str, str]:
    """The text delivered to each request, by key; empty for a ledger run."""
    if history is None:
        return {}
    tokens: dict[str, list[int]] = {}
    for record in history.records:
        for key, _, token in record.emitted:
            if token is not None:
                tokens.setdefault(key, []).append(token)
    return {key: decode(tokens[key]) for key in history.requests if key in tokens}


def said_lines(history: History | None, most: int, words: Catalogue) -> str:
    """A line per request, control characters escaped; long texts are cut."""
    texts = said(history)
    lines = [f"{printable(key)}  {_quoted(texts[key])}" for key in list(texts)[:most]]
    return "\n".join([words("cli.said"), *lines]) if lines else ""


def _quoted(text: str) -> str:
    cut = text if len(text) <= MOST_SIGNS else text[: MOST_SIGNS - 3] + "..."
    return json.dumps(cut, ensure_ascii=False)
