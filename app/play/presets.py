"""Traces and settings to begin with: the lab's own, and those that bring its switches to life."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from random import Random
from typing import Any

from engine.traces import MAIN_NAME, main_trace

Row = tuple[object, ...]
HEAD = ("id", "arrival", "prompt_tokens", "output_tokens")
CROWD = 24  # enough for a percentile that is not the maximum


def table(rows: Sequence[Row], head: Sequence[str] = HEAD) -> str:
    """``rows`` as CSV of the lab's own columns."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return out.getvalue()


def main_table() -> str:
    """R01–R04 with their prompts."""
    rows = [(r.id, f"{r.arrival:.2f}", r.prompt_tokens, r.output_tokens, r.prompt) for r in main_trace()]
    return table(rows, (*HEAD, "prompt"))


def long_one_last() -> str:
    """The arrivals of R01–R04, the long request at the end."""
    requests, arrivals = main_trace(), [f"{request.arrival:.2f}" for request in main_trace()]
    order = [*requests[1:], requests[0]]
    return table([(r.id, a, r.prompt_tokens, r.output_tokens) for r, a in zip(order, arrivals, strict=True)])


def crowd() -> str:
    """A few long requests among many short ones, from a fixed seed."""
    random, moment, rows = Random(24), 0.0, []
    for place in range(1, CROWD + 1):
        long = random.random() < 0.2
        lengths = (random.randint(16, 24), random.randint(10, 16)) if long else (random.randint(3, 8), 2)
        rows.append((f"R{place:02d}", f"{moment:.2f}", *lengths))
        moment += random.choice((0.05, 0.1, 0.15, 0.3))
    return table(rows)


def presets() -> list[dict[str, Any]]:
    """``key`` of each one's words, its trace, its name as a file, and settings that are not the default."""
    together = table([("R01", "0", 18, 2), ("R02", "0", 8, 2), ("R03", "0", 20, 2)])
    small = {"page_size": "1", "pages": "46"}
    return [
        {"key": "main", "name": MAIN_NAME, "trace": main_table(), "settings": {}},
        {"key": "slow", "name": MAIN_NAME, "trace": main_table(), "settings": {"tick": "1.0"}},
        {"key": "together", "name": "", "trace": together, "settings": {}},
        {"key": "small", "name": MAIN_NAME, "trace": main_table(), "settings": small},
        {"key": "last", "name": "", "trace": long_one_last(), "settings": {}},
        {"key": "crowd", "name": "", "trace": crowd(), "settings": {}},
    ]
