"""The moments of one request inside the window, in grains of a Clock; None where nothing was observed."""

from __future__ import annotations

from dataclasses import dataclass

from engine.measuring.clock import Clock
from engine.measuring.life import Life

LIVE = ("unfinished", "waiting", "active")


@dataclass(slots=True)
class Times:
    """``count`` tokens from ``first`` to ``last``; ``done`` when finished, ``ended`` also when cancelled
    or failed. ``status`` is what was to be seen by the end of the window.
    """

    life: Life
    arrival: int
    start: int | None = None
    first: int | None = None
    last: int | None = None
    count: int = 0
    done: int | None = None
    ended: int | None = None
    status: str = "unfinished"

    @property
    def length(self) -> int:
        """Output tokens: what was delivered once it has finished, else what was asked for."""
        return self.count if self.done is not None else self.life.request.output_tokens

    @property
    def queue(self) -> int | None:
        """Arrival to the start of its prefill."""
        return None if self.start is None else self.start - self.arrival

    @property
    def ttft(self) -> int | None:
        """Arrival to its first token."""
        return None if self.first is None else self.first - self.arrival

    @property
    def e2e(self) -> int | None:
        """Arrival to its last token."""
        return None if self.done is None else self.done - self.arrival

    @property
    def span(self) -> int | None:
        """First to last token of a finished request of 2 tokens or more: its TPOT times its gaps."""
        if self.done is None or self.count < 2 or self.first is None or self.last is None:
            return None
        return self.last - self.first


def never_came(life: Life, tick: int, arrival: int) -> bool:
    """Cancelled before its arrival: no arrival of the window."""
    return life.status == "cancelled" and life.ended is not None and life.ended * tick < arrival


def times_of(life: Life, clock: Clock, end: int, horizon: int | None) -> Times:
    """The moments of ``life`` up to ``end``; what is stamped after the horizon is not observed."""
    times = Times(life, clock.grains(life.request.arrival))
    if life.start is not None and life.start * clock.tick <= end:
        times.start = life.start * clock.tick
    _set_tokens(times, clock.tick, end)
    if life.status == "refused":
        times.status = "refused"
    elif life.ended is not None:
        _set_end(times, life.ended, clock.tick, horizon)
    elif horizon is None:
        times.status = life.status
    return times


def _set_tokens(times: Times, tick: int, end: int) -> None:
    """Tokens stamped by ``end``: those of the ticks before ``end`` // ``tick``."""
    runs, over = times.life.runs, end // tick
    if not runs or runs[0][0] >= over:
        return
    times.first = (runs[0][0] + 1) * tick
    for first, count in runs:
        seen = min(count, over - first)
        if seen <= 0:
            break
        times.count += seen
        times.last = (first + seen) * tick


def _set_end(times: Times, ended: int, tick: int, horizon: int | None) -> None:
    """A finish is stamped at the end of its tick; a cancellation or failure came before its start."""
    finished = times.life.status == "finished"
    moment = (ended + finished) * tick
    if horizon is None or moment <= horizon:
        times.ended, times.status = moment, times.life.status
        times.done = moment if finished else None


def gaps(times: Times, clock: Clock) -> tuple[float, ...]:
    """Seconds between successive tokens."""
    step = clock.seconds(clock.tick)
    found: list[float] = []
    left, before = times.count, None
    for first, count in times.life.runs:
        seen = min(count, left)
        if seen <= 0:
            break
        if before is not None:
            found.append(clock.seconds((first - before) * clock.tick))
        found.extend([step] * (seen - 1))
        left, before = left - seen, first + seen - 1
    return tuple(found)
