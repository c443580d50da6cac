"""Measuring a run (SEMANTICS §3): pure functions of what happened in its ticks.

Time is counted in whole grains and a float is made once, at the end. A value that does not exist is
None, never 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from engine.history import History
from engine.measuring.clock import Clock
from engine.measuring.costs import Costs, costs_of
from engine.measuring.life import Life
from engine.measuring.metrics import Metrics, RequestMetrics, Summary, Value
from engine.measuring.peaks import Peaks, peaks_of
from engine.measuring.percentiles import Ranked
from engine.measuring.progress import lives
from engine.measuring.slo import Limits, checked_limit, count_verdicts
from engine.measuring.times import LIVE, Times, gaps, never_came, times_of
from engine.service import Service


class Measurement:
    """The lives of a run of ``ticks`` ticks, seen through its window and under limits (s).

    The window reaches from 0 to the last finish, the horizon, or (a run under way) now, whichever is
    first; it is 0 when nobody arrived. When nothing finished and nobody is left (all were cancelled)
    it reaches to the end of the run. Raises InputError for a limit that is no number of seconds.
    """

    def __init__(
        self,
        service: Service,
        lives: Mapping[str, Life],
        ticks: int,
        horizon: Decimal | None,
        slo_ttft: object = None,
        slo_tpot: object = None,
    ) -> None:
        limits = (checked_limit(slo_ttft, "slo_ttft"), checked_limit(slo_tpot, "slo_tpot"))
        others = [moment for moment in (horizon, *limits) if moment is not None]
        arrivals = (life.request.arrival for life in lives.values())
        self.clock = Clock(service.tick, (*others, *arrivals))
        self.limits = Limits.on(self.clock, *limits)
        self.ticks = ticks
        self.horizon = None if horizon is None else self.clock.grains(horizon)
        self.end = self._end(lives)
        self.times = {key: times_of(life, self.clock, self.end, self.horizon) for key, life in lives.items()}

    def _end(self, lives: Mapping[str, Life]) -> int:
        """The end of the window, in grains."""
        tick, grains = self.clock.tick, self.clock.grains
        served = [(life, grains(life.request.arrival)) for life in lives.values() if life.status != "refused"]
        served = [(life, arrival) for life, arrival in served if not never_came(life, tick, arrival)]
        alive = any(life.ended is None for life, _ in served)
        finishes = [life.ended for life, _ in served if life.status == "finished" and life.ended is not None]
        end = (self.ticks if alive or not finishes else max(finishes) + 1) * tick
        if self.horizon is not None:
            end = self.horizon if alive else min(end, self.horizon)
        return end if any(arrival <= end for _, arrival in served) else 0

    @property
    def begun(self) -> int:
        """Ticks that start before the end of the window."""
        return -(-self.end // self.clock.tick)

    @property
    def over(self) -> int:
        """Ticks that end in the window."""
        return self.end // self.clock.tick

    def requests(self) -> dict[str, RequestMetrics]:
        """The figures of every request."""
        return {key: self._request(key, times) for key, times in self.times.items()}

    def _request(self, key: str, times: Times) -> RequestMetrics:
        life, request, seconds = times.life, times.life.request, self._seconds
        return RequestMetrics(
            id=key,
            arrival=self.clock.seconds(times.arrival),
            prompt_tokens=request.prompt_tokens,
            output_tokens=request.output_tokens,
            status=times.status,
            queue=seconds(times.queue),
            ttft=seconds(times.ttft),
            tpot=self._tpot(times),
            e2e=seconds(times.e2e),
            itl=gaps(times, self.clock),
            preempted=life.preempted,
            recomputed_tokens=life.recomputed_tokens,
            stall=self.clock.seconds(life.stalled * self.clock.tick),
        )

    def _seconds(self, grains: int | None) -> Value:
        return None if grains is None else self.clock.seconds(grains)

    def _tpot(self, times: Times) -> Value:
        span = times.span
        return None if span is None else self.clock.seconds(span, times.count - 1)

    # ---- the run as a whole ------------------------------------------------------------------

    def summary(self, peaks: Peaks, costs: Costs) -> Summary:
        """The summary, given what was counted tick by tick."""
        everybody = self.times.values()
        came = [t for t in everybody if not never_came(t.life, self.clock.tick, t.arrival)]
        seen = [t for t in came if t.status == "refused" or t.arrival <= self.end]
        offered = [t for t in seen if t.status != "refused"]
        verdicts: dict[str, Any] = count_verdicts(self.limits, seen, self.end)
        judged = sum(verdicts.values())
        return Summary(
            ticks=self.ticks,
            window=self.clock.seconds(self.end),
            offered=len(offered),
            refused=len(seen) - len(offered),
            **_statuses(offered),
            **self._rates(offered),
            **verdicts,
            goodput=self._rate(verdicts["met"]),
            attainment=verdicts["met"] / judged if judged else None,
            **self._means(offered),
            **self._percentiles(offered),
            peak_backlog=peaks.backlog,
            peak_waiting=peaks.backlog,
            peak_reserved_tokens=peaks.reserved,
            peak_held_tokens=peaks.held,
            peak_written_tokens=peaks.written,
            peak_pages=peaks.pages,
            **self._little(offered),
            **costs.figures({key: times.life for key, times in self.times.items()}),
        )

    def _rate(self, number: int) -> Value:
        return self.clock.rate(number, self.end)

    def _rates(self, offered: list[Times]) -> dict[str, Any]:
        return {
            "throughput": self._rate(sum(t.count for t in offered)),
            "throughput_finished": self._rate(sum(t.count for t in offered if t.status == "finished")),
            "arrival_rate": self._rate(len(offered)),
        }

    def _mean(self, grains: Iterable[int | None]) -> Value:
        known = [value for value in grains if value is not None]
        return self.clock.seconds(sum(known), len(known)) if known else None

    def _means(self, offered: list[Times]) -> dict[str, Any]:
        gap_count = sum(t.count - 1 for t in offered if t.count)
        gap_time = sum(t.last - t.first for t in offered if t.first is not None and t.last is not None)
        return {
            "mean_ttft": self._mean(t.ttft for t in offered),
            "mean_e2e": self._mean(t.e2e for t in offered),
            "mean_queue": self._mean(t.queue for t in offered),
            "mean_itl": self.clock.seconds(gap_time, gap_count) if gap_count else None,
            "mean_tpot": self._mean_tpot(offered),
        }

    def _mean_tpot(self, offered: list[Times]) -> Value:
        """Exact: the spans are added up per number of gaps before they are divided."""
        spans: dict[int, int] = {}
        number = 0
        for times in offered:
            if times.span is not None:
                spans[times.count - 1] = spans.get(times.count - 1, 0) + times.span
                number += 1
        total = sum((Fraction(span, gap_count) for gap_count, span in spans.items()), Fraction(0))
        return float(total / (number * self.clock.per_second)) if number else None

    def _percentiles(self, offered: list[Times]) -> dict[str, Any]:
        waited = self._waited
        ttft = self._ranked(offered, lambda t: self._seconds(t.ttft), waited)
        e2e = self._ranked(offered, lambda t: self._seconds(t.e2e), waited)
        tpot = self._ranked([t for t in offered if t.length > 1], self._tpot, self._pace)
        return {
            "p50_ttft": ttft[0].at(50),
            "p95_ttft": ttft[0].at(95),
            "p99_ttft": ttft[0].at(99),
            "p95_tpot": tpot[0].at(95),
            "p95_e2e": e2e[0].at(95),
            "left_out": {"ttft": ttft[1], "tpot": tpot[1], "e2e": e2e[1]},
        }

    def _ranked(
        self, offered: list[Times], value: Callable[[Times], Value], waited: Callable[[Times], float]
    ) -> tuple[Ranked, int]:
        """The values in order, a bound for each request still without one, and how many ended without."""
        known, open_, left_out = [], [], 0
        for times in offered:
            found = value(times)
            if found is not None:
                known.append(found)
            elif times.status in ("cancelled", "failed"):
                left_out += 1
            else:
                open_.append(waited(times))
        return Ranked(known, open_), left_out

    def _waited(self, times: Times) -> float:
        return self.clock.seconds(self.end - times.arrival)

    def _pace(self, times: Times) -> float:
        """What the TPOT of an unfinished request is at least."""
        if times.first is None:
            return 0.0
        return self.clock.seconds(self.end - times.first, times.length - 1)

    def _little(self, offered: list[Times]) -> dict[str, Any]:
        """L over the window, and W (None when somebody is still in the system at its end)."""
        spent = [min(self.end, self.end if t.ended is None else t.ended) - t.arrival for t in offered]
        left = all(t.ended is not None and t.ended <= self.end for t in offered)
        return {
            "mean_in_system": sum(spent) / self.end if self.end else None,
            "mean_time_in_system": self._mean(spent) if left else None,
        }


def _statuses(offered: list[Times]) -> dict[str, Any]:
    """How many are in which state by the end of the window."""
    live = [t for t in offered if t.status in LIVE]
    waiting = sum(t.life.status == "waiting" for t in live)
    return {
        **{name: sum(t.status == name for t in offered) for name in ("finished", "cancelled", "failed")},
        "unfinished": len(live),
        "in_flight": len(live) - waiting,
        "waiting": waiting,
    }


def measure(history: History, *, slo_ttft: object = None, slo_tpot: object = None) -> Metrics:
    """Metrics of ``history`` under the given limits (s). Raises InputError for a limit that is no number."""
    found = Measurement(
        history.service, lives(history), len(history.records), history.horizon, slo_ttft, slo_tpot
    )
    peaks = peaks_of(history.records, history.service, found.begun, found.over)
    return Metrics(found.requests(), found.summary(peaks, costs_of(history.records)))
