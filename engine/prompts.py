"""Prompts for a trace that has only counts: pieces of the held-out text, exactly as long as asked."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from random import Random

import msgspec

from engine.requests import Request

CORPUS = Path(__file__).parent / "weights" / "heldout.txt"


def prompts_for(requests: Iterable[Request], seed: int = 0) -> list[Request]:
    """The same requests, each with a prompt of ``prompt_tokens`` bytes of ASCII text.

    A request that has a prompt keeps it. The piece depends on ``seed`` and the request's id alone, so
    that a request says the same whoever its neighbours are.
    """
    return [r if r.prompt is not None else _with_prompt(r, seed) for r in requests]


def _with_prompt(request: Request, seed: int) -> Request:
    piece = _piece(request.prompt_tokens, Random(f"{seed}:{request.id}"))
    return msgspec.structs.replace(request, prompt=piece)


def _piece(length: int, random: Random) -> str:
    """``length`` characters from the start of a word on; the text begins again when it ends."""
    text, starts = _corpus()
    start = random.choice(starts)
    found = text[start : start + length]
    while len(found) < length:
        found += text[: length - len(found)]
    return found


@cache
def _corpus() -> tuple[str, tuple[int, ...]]:
    """The text, and where its words begin."""
    text = CORPUS.read_text(encoding="ascii")
    return text, tuple(i + 1 for i, sign in enumerate(text[:-1]) if sign in " \n")
