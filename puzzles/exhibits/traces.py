"""Traces that exhibits run: drawn once from a name, the same on every machine."""

from __future__ import annotations

from decimal import Decimal
from random import Random

from engine import Request

Span = tuple[int, int]  # least and most, both included


def drawn(name: str, count: int, gap: Span, prompt: Span, output: Span) -> tuple[Request, ...]:
    """``count`` requests, ``gap`` hundredths of a second apart, of so many prompt and output tokens.

    Only ``random()`` gives the same numbers in every Python, so only it is used.
    """
    source, arrival, found = Random(f"exhibit:{name}"), 0, []
    for place in range(1, count + 1):
        sizes = (_pick(source, prompt), _pick(source, output))
        found.append(Request(f"R{place:03}", Decimal(arrival) / 100, *sizes))
        arrival += _pick(source, gap)
    return tuple(found)


def _pick(source: Random, span: Span) -> int:
    least, most = span
    return least + int(source.random() * (most - least + 1))
