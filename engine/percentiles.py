"""Nearest-rank percentiles where some values are only known to be at least so much."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import msgspec


@dataclass(frozen=True)
class Censored:
    """A value that had not happened by the end of the window; it is at least ``waited``."""

    waited: Fraction


class Range(msgspec.Struct, frozen=True):
    """A percentile that the window does not decide: at least, and at most (None: no upper bound)."""

    at_least: float
    at_most: float | None


def nearest_rank(values: Iterable[Fraction | Censored], percent: int) -> float | Range | None:
    """The ⌈percent/100 · N⌉-th smallest value; a Range when censoring leaves it open; None for N = 0."""
    found = list(values)
    if not found:
        return None
    rank = -(-percent * len(found) // 100)
    lower = sorted(v.waited if isinstance(v, Censored) else v for v in found)[rank - 1]
    known = sorted(v for v in found if not isinstance(v, Censored))
    if rank > len(known):
        return Range(float(lower), None)
    upper = known[rank - 1]
    return float(lower) if lower == upper else Range(float(lower), float(upper))
