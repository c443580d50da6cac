"""Exhibits about guessing: what a round gives by the formula, and what the engine's rounds gave."""

from __future__ import annotations

from fractions import Fraction

from engine.words import Catalogue
from puzzles.calculator import tokens_per_round
from puzzles.exhibits.model import Exhibit
from puzzles.measured import Rounds, measured, measured_on
from puzzles.quantization import Sheet
from puzzles.words import DASH, number

GUESSES = (1, 2, 4, 8)
ACCEPTANCES = ("0.2", "0.5", "0.8", "0.9")


def rounds(words: Catalogue) -> Exhibit:
    """Tokens of a round, by acceptance and number of guesses."""
    rows = tuple((a, *(_tokens(Fraction(a), k) for k in GUESSES)) for a in ACCEPTANCES)
    heads = (words("exhibit.rounds.acceptance"), *(f"k\u00a0=\u00a0{k}" for k in GUESSES))
    return Exhibit(sheets=(Sheet(words("exhibit.rounds.title"), heads, rows),), answers=True)


def _tokens(acceptance: Fraction, guesses: int) -> str:
    return number(round(tokens_per_round(acceptance, guesses), 3))


def guesses(words: Catalogue) -> Exhibit:
    """The engine's own rounds: how often the first guess is right, tokens per round, and whether it paid."""
    found = [row for row in measured().speculation if row.k in GUESSES]
    names = ("load", "draft", "k", "accepted", "tokens", "formula", "speed")
    heads = tuple(words(f"exhibit.guesses.{name}") for name in names)
    rows = tuple(_row(row, words) for row in found)
    loses = sum(row.speedup < 1 for row in found)
    return Exhibit(
        sheets=(Sheet(words("exhibit.guesses.title"), heads, rows, labels=2),),
        points=(words("exhibit.guesses.point", loses=loses, rows=len(found)),),
        notes=(measured_on(words, median=True),),
        answers=True,
    )


def acceptance(row: Rounds) -> float:
    """The share of first guesses that were right."""
    return row.accepted_at[0] if row.accepted_at else 0.0


def _row(row: Rounds, words: Catalogue) -> tuple[str, ...]:
    share = acceptance(row)
    by_formula = float(tokens_per_round(Fraction(share), row.k))
    return (
        words(f"exhibit.guesses.{row.load}"),
        words(f"exhibit.guesses.draft.{row.draft}"),
        str(row.k),
        f"{100 * share:.0f} %",
        DASH if row.tokens_per_round is None else f"{row.tokens_per_round:.2f}",
        f"{by_formula:.2f}",
        f"{row.speedup:.2f} ×",
    )
