"""Metrics of a run (SEMANTICS §3): pure functions of its records.

Everything is counted in whole ticks and exact fractions; a float is made once, at the end.
A value that does not exist is None, never 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import msgspec

from engine.costs import costs
from engine.errors import InputError
from engine.exact import seconds
from engine.history import History
from engine.percentiles import Censored, Range, nearest_rank
from engine.progress import Life, lives

Value = float | None


class RequestMetrics(msgspec.Struct, frozen=True):
    """One request. Times in seconds, None where they do not exist; ``itl`` lists the token gaps,
    ``stall`` is the time from each preemption to the next token."""

    id: str
    arrival: float
    prompt_tokens: int
    output_tokens: int
    status: str
    queue: Value
    ttft: Value
    tpot: Value
    e2e: Value
    itl: tuple[float, ...]
    preempted: int
    recomputed_tokens: int
    stall: float


class Summary(msgspec.Struct, frozen=True):
    """The run as a whole. Times in seconds, rates per second of ``window``; Range where censored.

    ``offered`` counts the arrivals; the ``refused`` are apart. Of the ``unfinished``, ``in_flight`` hold a
    place and ``waiting`` do not. ``left_out`` counts, per metric, who was cancelled before the event.
    ``mean_ttft``, ``mean_tpot``, ``mean_e2e`` and ``mean_queue`` weigh requests,
    ``mean_itl`` weighs gaps. ``throughput`` counts every output token delivered in the window,
    ``throughput_finished`` only those of finished requests. ``recompute_tax`` is the share of computed
    tokens that preemption made compute again; the prefix cache counts prompt tokens at first
    admissions; ``tokens_per_round`` is what a speculative round of one request gives.
    """

    ticks: int
    window: float
    offered: int
    finished: int
    unfinished: int
    in_flight: int
    waiting: int
    refused: int
    cancelled: int
    failed: int
    left_out: dict[str, int]
    throughput: Value
    throughput_finished: Value
    goodput: Value
    attainment: Value
    met: int
    missed: int
    undecided: int
    mean_ttft: Value
    p50_ttft: Value | Range
    p95_ttft: Value | Range
    p99_ttft: Value | Range
    mean_tpot: Value
    p95_tpot: Value | Range
    mean_itl: Value
    mean_e2e: Value
    p95_e2e: Value | Range
    mean_queue: Value
    peak_backlog: int
    peak_waiting: int
    peak_reserved_tokens: int
    peak_held_tokens: int
    peak_written_tokens: int
    peak_pages: int
    arrival_rate: Value
    mean_in_system: Value
    mean_time_in_system: Value
    preemptions: int
    recomputed_tokens: int
    recompute_tax: Value
    prefix_queries: int
    prefix_hits: int
    draft_rounds: int
    drafted: int
    accepted: int
    accepted_at: tuple[int, ...]
    tokens_per_round: Value
    draft_ms: float


class Metrics(msgspec.Struct, frozen=True):
    """``requests`` by key, in order of arrival in the trace, and the ``summary``."""

    requests: dict[str, RequestMetrics]
    summary: Summary


@dataclass(frozen=True)
class Limits:
    """SLO limits in exact seconds, None for no limit."""

    ttft: Fraction | None
    tpot: Fraction | None


@dataclass
class Times:
    """The moments of one request inside the window, exact seconds, None when not observed."""

    life: Life
    arrival: Fraction
    start: Fraction | None = None
    tokens: list[Fraction] = field(default_factory=list)
    done: Fraction | None = None  # finished
    ended: Fraction | None = None  # finished, failed or cancelled
    status: str = "unfinished"

    @property
    def length(self) -> int:
        """Output tokens: what was delivered once it has finished, else what was asked for."""
        return len(self.tokens) if self.done is not None else self.life.request.output_tokens

    @property
    def first(self) -> Fraction | None:
        return self.tokens[0] if self.tokens else None

    @property
    def queue(self) -> Fraction | None:
        return None if self.start is None else self.start - self.arrival

    @property
    def ttft(self) -> Fraction | None:
        return None if self.first is None else self.first - self.arrival

    @property
    def tpot(self) -> Fraction | None:
        if self.done is None or self.length < 2:
            return None
        return (self.tokens[-1] - self.tokens[0]) / (self.length - 1)

    @property
    def e2e(self) -> Fraction | None:
        return None if self.done is None else self.done - self.arrival

    @property
    def gaps(self) -> list[Fraction]:
        return [b - a for a, b in zip(self.tokens, self.tokens[1:], strict=False)]


def measure(history: History, *, slo_ttft: object = None, slo_tpot: object = None) -> Metrics:
    """Metrics of ``history`` under the given limits (s). Raises InputError for a limit that is no number."""
    limits = Limits(_limit(slo_ttft, "slo_ttft"), _limit(slo_tpot, "slo_tpot"))
    found = lives(history)
    end = _window_end(history, found.values())
    times = {key: _times(life, history, end) for key, life in found.items()}
    return Metrics(
        requests={key: _request_metrics(key, t, history) for key, t in times.items()},
        summary=_summary(history, times, end, limits),
    )


def _limit(value: object, name: str) -> Fraction | None:
    if value is None:
        return None
    limit = seconds(value, name)
    if limit < 0:
        raise InputError(f"{name}: {value} is negative; a limit in seconds such as 0.5 is needed")
    return Fraction(limit)


# ---- from records to moments -----------------------------------------------------------------


def _window_end(history: History, found: Iterable[Life]) -> Fraction:
    """The window reaches from 0 to the last finish, the horizon, or (a run under way) now.

    Whichever is first, in seconds; 0 when nobody arrived. When nothing finished and nobody is left
    (all were cancelled) it reaches to the end of the run.
    """
    tick = Fraction(history.service.tick)
    served = [life for life in found if life.status != "refused" and not _never_came(life, tick)]
    alive = any(life.ended is None for life in served)
    finishes = [
        (life.ended + 1) * tick for life in served if life.status == "finished" and life.ended is not None
    ]
    end = len(history.records) * tick if alive or not finishes else max(finishes)
    if history.horizon is not None:
        end = Fraction(history.horizon) if alive else min(end, Fraction(history.horizon))
    return end if any(life.request.arrival <= end for life in served) else Fraction(0)


def _never_came(life: Life, tick: Fraction) -> bool:
    """Cancelled before its arrival: no arrival of the window."""
    return life.status == "cancelled" and life.ended is not None and life.ended * tick < life.request.arrival


def _times(life: Life, history: History, end: Fraction) -> Times:
    """The moments of ``life`` that lie in the window; what is stamped later is not observed."""
    tick = Fraction(history.service.tick)
    times = Times(life, Fraction(life.request.arrival))
    if life.start is not None and life.start * tick <= end:
        times.start = life.start * tick
    times.tokens = [m for m in ((k + 1) * tick for k in life.tokens) if m <= end]
    if life.status == "refused":
        times.status = "refused"
    elif life.ended is not None:
        # a finish is stamped at the end of its tick; a cancellation or failure came before its start
        moment = (life.ended + (life.status == "finished")) * tick
        if history.horizon is None or moment <= history.horizon:
            times.ended, times.status = moment, life.status
            times.done = moment if life.status == "finished" else None
    elif history.horizon is None:
        times.status = life.status
    return times


def _request_metrics(key: str, times: Times, history: History) -> RequestMetrics:
    request = times.life.request
    return RequestMetrics(
        id=key,
        arrival=float(times.arrival),
        prompt_tokens=request.prompt_tokens,
        output_tokens=request.output_tokens,
        status=times.status,
        queue=_float(times.queue),
        ttft=_float(times.ttft),
        tpot=_float(times.tpot),
        e2e=_float(times.e2e),
        itl=tuple(map(float, times.gaps)),
        preempted=times.life.preempted,
        recomputed_tokens=times.life.recomputed_tokens,
        stall=float(times.life.stalled * history.service.tick),
    )


def _float(value: Fraction | None) -> Value:
    return None if value is None else float(value)


def _mean(values: Iterable[Fraction | None]) -> Value:
    known = [v for v in values if v is not None]
    return float(sum(known, Fraction(0)) / len(known)) if known else None


# ---- percentiles under censoring ---------------------------------------------------------------


def _observations(
    offered: list[Times],
    end: Fraction,
    value: Callable[[Times], Fraction | None],
    waited: Callable[[Times], Fraction],
) -> tuple[list[Fraction | Censored], int]:
    """The values, a Censored for each request still without one, and how many ended without one."""
    found: list[Fraction | Censored] = []
    left_out = 0
    for times in offered:
        known = value(times)
        if known is not None:
            found.append(known)
        elif times.status in ("cancelled", "failed"):
            left_out += 1
        else:
            found.append(Censored(waited(times)))
    return found, left_out


def _waited_for_tpot(end: Fraction) -> Callable[[Times], Fraction]:
    def waited(times: Times) -> Fraction:
        if times.first is None or times.length < 2:
            return Fraction(0)
        return (end - times.first) / (times.length - 1)

    return waited


# ---- service level objective -------------------------------------------------------------------


def _verdict(times: Times, end: Fraction, limits: Limits) -> str:
    """met, missed, undecided, or left_out (cancelled before any limit had passed)."""
    if times.status in ("refused", "failed"):
        return "missed"
    if _a_limit_passed(
        times, times.ended if times.status == "cancelled" and times.ended is not None else end, limits
    ):
        return "missed"
    if times.status == "finished":
        return "met"
    return "left_out" if times.status == "cancelled" else "undecided"


def _a_limit_passed(times: Times, until: Fraction, limits: Limits) -> bool:
    waited = times.ttft if times.ttft is not None else until - times.arrival
    if limits.ttft is not None and waited > limits.ttft:
        return True
    if limits.tpot is None or times.first is None or times.length < 2:
        return False
    pace = times.tpot if times.tpot is not None else (until - times.first) / (times.length - 1)
    return pace > limits.tpot


# ---- the run as a whole --------------------------------------------------------------------------


def _summary(history: History, times: dict[str, Times], end: Fraction, limits: Limits) -> Summary:
    tick = Fraction(history.service.tick)
    came = [t for t in times.values() if not _never_came(t.life, tick)]
    seen = [t for t in came if t.status == "refused" or t.arrival <= end]
    offered = [t for t in seen if t.status != "refused"]
    live = [t for t in offered if t.status in ("unfinished", "waiting", "active")]
    waiting = sum(t.life.status == "waiting" for t in live)
    verdicts = [_verdict(t, end, limits) for t in seen]
    met, missed, undecided = (verdicts.count(name) for name in ("met", "missed", "undecided"))
    judged = met + missed + undecided
    ttft, no_ttft = _observations(offered, end, lambda t: t.ttft, lambda t: end - t.arrival)
    several = [t for t in offered if t.length > 1]
    tpot, no_tpot = _observations(several, end, lambda t: t.tpot, _waited_for_tpot(end))
    e2e, no_e2e = _observations(offered, end, lambda t: t.e2e, lambda t: end - t.arrival)
    rate = _rate(end)
    return Summary(
        ticks=len(history.records),
        window=float(end),
        offered=len(offered),
        finished=sum(t.status == "finished" for t in offered),
        unfinished=len(live),
        in_flight=len(live) - waiting,
        waiting=waiting,
        refused=len(seen) - len(offered),
        cancelled=sum(t.status == "cancelled" for t in offered),
        failed=sum(t.status == "failed" for t in offered),
        left_out={"ttft": no_ttft, "tpot": no_tpot, "e2e": no_e2e},
        throughput=rate(sum(len(t.tokens) for t in offered)),
        throughput_finished=rate(sum(len(t.tokens) for t in offered if t.status == "finished")),
        goodput=rate(met),
        attainment=met / judged if judged else None,
        met=met,
        missed=missed,
        undecided=undecided,
        mean_ttft=_mean(t.ttft for t in offered),
        p50_ttft=nearest_rank(ttft, 50),
        p95_ttft=nearest_rank(ttft, 95),
        p99_ttft=nearest_rank(ttft, 99),
        mean_tpot=_mean(t.tpot for t in offered),
        p95_tpot=nearest_rank(tpot, 95),
        mean_itl=_mean(gap for t in offered for gap in t.gaps),
        mean_e2e=_mean(t.e2e for t in offered),
        p95_e2e=nearest_rank(e2e, 95),
        mean_queue=_mean(t.queue for t in offered),
        **_peaks(history, end),
        arrival_rate=rate(len(offered)),
        mean_in_system=_mean_in_system(offered, end),
        mean_time_in_system=_mean_time_in_system(offered, end),
        **costs(history.records, {key: t.life for key, t in times.items()}),
    )


def _rate(end: Fraction) -> Callable[[int], Value]:
    return lambda number: float(number / end) if end else None


def _mean_time_in_system(offered: list[Times], end: Fraction) -> Value:
    """Little's W, seconds; None when somebody is still in the system at the end of the window."""
    spent = [t.ended - t.arrival for t in offered if t.ended is not None and t.ended <= end]
    return _mean(spent) if len(spent) == len(offered) else None


def _mean_in_system(offered: list[Times], end: Fraction) -> Value:
    """The time-average of requests in the system over the window."""
    spent = sum((min(end, end if t.ended is None else t.ended) - t.arrival for t in offered), Fraction(0))
    return float(spent / end) if end else None


def _peaks(history: History, end: Fraction) -> dict[str, Any]:
    """Peaks. KV is read at the end of a tick, the backlog after its admission (near its start)."""
    tick = Fraction(history.service.tick)
    started = [r for r in history.records if r.tick * tick < end]
    ended = [r for r in history.records if (r.tick + 1) * tick <= end]
    backlog = max((len(r.waiting) for r in started), default=0)
    return {
        "peak_backlog": backlog,
        "peak_waiting": backlog,
        "peak_reserved_tokens": max((r.reserved for r in ended), default=0),
        "peak_held_tokens": max((r.held for r in ended), default=0),
        "peak_written_tokens": max((r.written for r in ended), default=0),
        "peak_pages": max((len({p for table in r.pages.values() for p in table}) for r in ended), default=0),
    }
