"""Service level objectives: which requests met their limits, which missed them, which are open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from engine.errors import InputError
from engine.exact import seconds
from engine.measuring.clock import Clock
from engine.measuring.times import Times


def checked_limit(value: object, name: str) -> Decimal | None:
    """A limit in exact seconds, None for no limit. Raises InputError for what is no limit."""
    if value is None:
        return None
    limit = seconds(value, name)
    if limit < 0:
        raise InputError.of("negative_limit", at=name, value=value)
    return limit


@dataclass(frozen=True)
class Limits:
    """Limits in grains, None for no limit."""

    ttft: int | None
    tpot: int | None

    @classmethod
    def on(cls, clock: Clock, ttft: Decimal | None, tpot: Decimal | None) -> Limits:
        """The limits in grains of ``clock``."""
        return cls(*(None if limit is None else clock.grains(limit) for limit in (ttft, tpot)))

    def passed(self, times: Times, until: int) -> bool:
        """Whether a limit has passed for good by ``until``."""
        if self.ttft is not None:
            waited = until - times.arrival if times.ttft is None else times.ttft
            if waited > self.ttft:
                return True
        if self.tpot is None or times.first is None or times.length < 2:
            return False
        span = until - times.first if times.span is None else times.span
        return span > self.tpot * (times.length - 1)

    def verdict(self, times: Times, end: int) -> str:
        """met, missed, undecided, or left_out (cancelled before any limit had passed)."""
        if times.status in ("refused", "failed"):
            return "missed"
        cancelled = times.status == "cancelled"
        until = times.ended if cancelled and times.ended is not None else end
        if self.passed(times, until):
            return "missed"
        if times.status == "finished":
            return "met"
        return "left_out" if cancelled else "undecided"


def count_verdicts(limits: Limits, seen: Iterable[Times], end: int) -> dict[str, int]:
    """How many met, missed and are undecided."""
    found = Counter(limits.verdict(times, end) for times in seen)
    return {name: found[name] for name in ("met", "missed", "undecided")}
