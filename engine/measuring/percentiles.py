"""Nearest-rank percentiles where some values are only known to be at least so much."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import msgspec


@dataclass(frozen=True)
class Censored:
    """A value that had not happened by the end of the window; it is at least ``waited``."""

    waited: float


class Range(msgspec.Struct, frozen=True):
    """A percentile that the window does not decide: at least, and at most (None: no upper bound)."""

    at_least: float
    at_most: float | None


class Ranked:
    """Values in order: ``known`` ones, and those known to be at least what is in ``waited``."""

    def __init__(self, known: Iterable[float], waited: Iterable[float] = ()) -> None:
        self._known = sorted(known)
        self._lower = sorted([*self._known, *waited])

    def __len__(self) -> int:
        return len(self._lower)

    def at(self, percent: int) -> float | Range | None:
        """The ⌈percent/100 · N⌉-th smallest; a Range when censoring leaves it open; None for N = 0."""
        rank = -(-percent * len(self._lower) // 100)
        if not rank:
            return None
        lower = self._lower[rank - 1]
        if rank > len(self._known):
            return Range(lower, None)
        upper = self._known[rank - 1]
        return lower if lower == upper else Range(lower, upper)


def nearest_rank(values: Iterable[float | Censored], percent: int) -> float | Range | None:
    """One percentile of ``values``, of which some may be censored."""
    known: list[float] = []
    waited: list[float] = []
    for value in values:
        if isinstance(value, Censored):
            waited.append(value.waited)
        else:
            known.append(value)
    return Ranked(known, waited).at(percent)
