"""Exact time as whole numbers: quick enough for long traces, and never rounded before the end."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from math import lcm


class Clock:
    """Counts time in grains: the longest span of which the tick and all ``moments`` are multiples.

    ``tick`` is the length of a tick in grains. A float is made once, by ``seconds``; the division of
    two whole numbers is rounded correctly.
    """

    def __init__(self, tick: Decimal, moments: Iterable[Decimal]) -> None:
        self.per_second = lcm(*{ratio[1] for ratio in map(Decimal.as_integer_ratio, (tick, *moments))})
        self.tick = self.grains(tick)

    def grains(self, seconds: Decimal) -> int:
        """``seconds``, one of the moments the clock was made for, in grains."""
        numerator, denominator = seconds.as_integer_ratio()
        return numerator * (self.per_second // denominator)

    def seconds(self, grains: int, parts: int = 1) -> float:
        """``grains`` divided into ``parts``, in seconds."""
        return grains / (self.per_second * parts)

    def rate(self, number: int, grains: int) -> float | None:
        """``number`` per second over ``grains``; None over no time at all."""
        return number * self.per_second / grains if grains else None
