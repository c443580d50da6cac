"""Which tool's TPOT? The same run measured by the formula of each tool, and the formula in words.

Two tools may print the same name over different numbers; the figure means nothing without its formula.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import msgspec

from engine.measuring.metrics import RequestMetrics
from puzzles.words import exact

Formula = Callable[[RequestMetrics], Fraction | None]


class Tool(msgspec.Struct, frozen=True):
    """``expression`` is the formula as its users would write it, ``names`` whoever uses it."""

    name: str
    names: tuple[str, ...]
    expression: str
    formula: Formula


def _after_first(one: RequestMetrics) -> Fraction | None:
    """Time from the first token to the last."""
    return None if one.e2e is None or one.ttft is None else exact(one.e2e) - exact(one.ttft)


def by_gaps(one: RequestMetrics) -> Fraction | None:
    """(E2E − TTFT) ÷ (n − 1); undefined for a single token."""
    span, gaps = _after_first(one), one.output_tokens - 1
    return None if span is None or gaps < 1 else span / gaps


def by_gaps_or_zero(one: RequestMetrics) -> Fraction | None:
    """The same, and 0 for a single token."""
    span = _after_first(one)
    return None if span is None else span / max(1, one.output_tokens - 1)


def by_tokens(one: RequestMetrics) -> Fraction | None:
    """(E2E − TTFT) ÷ n: the first token is counted, its time is not."""
    span = _after_first(one)
    return None if span is None else span / one.output_tokens


def from_arrival(one: RequestMetrics) -> Fraction | None:
    """E2E ÷ n: queue and prefill are in it."""
    return None if one.e2e is None else exact(one.e2e) / one.output_tokens


def mean_gap(one: RequestMetrics) -> Fraction | None:
    """The mean of the gaps between successive tokens."""
    return sum(map(exact, one.itl), Fraction(0)) / len(one.itl) if one.itl else None


BY_GAPS, BY_TOKENS = "(E2E − TTFT) ÷ (n − 1)", "(E2E − TTFT) ÷ n"

TOOLS = {
    tool.name: tool
    for tool in (
        Tool("lab", ("Tick Lab", "vLLM bench", "AIPerf"), BY_GAPS, by_gaps),
        Tool("llmservingsim", ("LLMServingSim",), f"{BY_GAPS}, n = 1: 0", by_gaps_or_zero),
        Tool("blis", ("BLIS",), "mean(ITL)", mean_gap),
        Tool("splitwise", ("Splitwise-sim", "simdistserve"), BY_TOKENS, by_tokens),
        Tool("vidur", ("Vidur",), "(c − f) ÷ n", by_tokens),
        Tool("guidellm", ("guidellm",), "E2E ÷ n", from_arrival),
    )
}


def tool_values(one: RequestMetrics) -> dict[str, Fraction | None]:
    """What each tool would report for one request; None where it reports nothing."""
    return {name: tool.formula(one) for name, tool in TOOLS.items()}
