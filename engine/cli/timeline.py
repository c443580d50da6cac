"""A run as text: one row per request, one letter per tick, and what the letters mean."""

from __future__ import annotations

from collections.abc import Sequence

from engine.cli.table import pad, printable, width
from engine.history import History
from engine.reasons import ACTIVE, REFUSED, WAITING
from engine.records import TickRecord
from engine.scheduling.explain import explain
from engine.words import Catalogue

LETTERS = {
    **dict.fromkeys(WAITING, "w"),
    **dict.fromkeys(ACTIVE, "-"),
    **dict.fromkeys(REFUSED, "!"),
    "preempted": "x",
    "seat_held": "s",
    "not_arrived": " ",
    "ended": " ",
    "idle": "-",
    "prefill": "P",
    "recomputed": "R",
    "recompute": "R",
    "first_token": "F",
    "decode": "D",
    "finished": "E",
    "cancelled": "c",
    "failed": "f",
}
ORDER = "wPFDER-sx!cf"  # of the legend
BLOCK = 80  # ticks side by side
MARK = 5  # ticks between two numbers above
MOST_TICKS, MOST_REQUESTS = 480, 40


def is_short(ticks: int, requests: int) -> bool:
    """Whether a run of that size can be read as a timeline."""
    return ticks <= MOST_TICKS and requests <= MOST_REQUESTS


def timeline(history: History | None, words: Catalogue) -> str:
    """The timeline with its legend, or a sentence when the run is too long to be read as one."""
    if history is None or not is_short(len(history.records), len(history.requests)):
        return words("cli.timeline_too_long", ticks=MOST_TICKS, requests=MOST_REQUESTS)
    starts = range(0, len(history.records), BLOCK)
    rows = {printable(key): _letters(history.records, key) for key in history.requests}
    blocks = [_block(rows, history.records, start, words) for start in starts]
    blocks += _guesses(history, words)
    return "\n\n".join([*blocks, _legend(set("".join(rows.values())), words)]) if blocks else ""


def _letters(records: Sequence[TickRecord], key: str) -> str:
    return "".join(LETTERS[explain(record, key).code] for record in records)


def _block(rows: dict[str, str], records: Sequence[TickRecord], start: int, words: Catalogue) -> str:
    """The ticks from ``start`` on, as many as stand side by side."""
    title = words("cli.tick")
    columns = max(width(key) for key in (*rows, title)) + 2
    lines = [pad(title, columns) + _numbers(records[start : start + BLOCK])]
    lines += [pad(key, columns) + letters[start : start + BLOCK] for key, letters in rows.items()]
    return "\n".join(line.rstrip() for line in lines)


def _numbers(records: Sequence[TickRecord]) -> str:
    """The number of every fifth tick, above its letter."""
    return "".join(str(r.tick).ljust(MARK) for r in records if r.tick % MARK == 0)


def _guesses(history: History, words: Catalogue) -> list[str]:
    """For a speculative run: per request, in each round, how many of the guessed tokens were right."""
    rounds: dict[str, list[str]] = {}
    for record in history.records:
        for key, guessed, accepted in record.drafts:
            rounds.setdefault(printable(key), []).append(f"{record.tick}:{accepted}/{guessed}")
    columns = max(map(width, rounds), default=0) + 2
    lines = [pad(key, columns) + " ".join(found) for key, found in rounds.items()]
    return ["\n".join([words("cli.guesses"), *lines])] if rounds else []


def _legend(letters: set[str], words: Catalogue) -> str:
    """What the letters that occur mean."""
    return "\n".join(f"{letter}  {words(f'cli.letter.{letter}')}" for letter in ORDER if letter in letters)
