"""How much one browser, and one address, may ask for in a time: enough for a class behind one address."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

MOST_KEYS = 10_000


@dataclass(frozen=True)
class Rate:
    """``burst`` at once, then ``per_second``."""

    burst: float
    per_second: float


class Allowance:
    """What everybody has left of a ``rate``, by name. Those asked for longest ago are forgotten first."""

    def __init__(self, rate: Rate, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate = rate
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, name: str, cost: float = 1.0) -> float:
        """Take ``cost``; the seconds to wait until it is paid for, 0 when there was enough."""
        left = max(self._now(name) - cost, -self.rate.burst)  # no debt grows without end
        self._left[name] = (self._clock(), left)
        self._left.move_to_end(name)
        if len(self._left) > MOST_KEYS:
            self._left.popitem(last=False)
        return max(0.0, -left / self.rate.per_second)

    def refuse(self, name: str) -> float:
        """As ``take(name)``, but takes nothing when there is not enough: asking again costs nothing."""
        left = self._now(name)
        return self.take(name) if left >= 1 else (1 - left) / self.rate.per_second

    def _now(self, name: str) -> float:
        since, left = self._left.get(name, (self._clock(), self.rate.burst))
        return min(self.rate.burst, left + (self._clock() - since) * self.rate.per_second)


OPENING = Rate(burst=300, per_second=5)  # pages of one address: a class of sixty, reloading
MESSAGES = Rate(burst=200, per_second=40)  # of one session: a key held down sends 30 a second
ADDRESS = Rate(burst=6000, per_second=1200)  # messages of one address


class Limits:
    """The allowances of one server."""

    def __init__(self) -> None:
        self.opening = Allowance(OPENING)
        self.messages = Allowance(MESSAGES)
        self.address = Allowance(ADDRESS)

    def wait(self, session: str, address: str, cost: float = 1.0) -> float:
        """Seconds by which a message of this session, from this address, has to be late."""
        return max(self.messages.take(session, cost), self.address.take(address, cost))


@cache
def limits() -> Limits:
    """The Limits of this process."""
    return Limits()
