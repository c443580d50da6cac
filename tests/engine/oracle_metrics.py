"""SEMANTICS §3 told a second time: metrics in Fractions, from the oracle's ticks alone."""

from __future__ import annotations

from fractions import Fraction

NEVER = Fraction(10**12)
KV = ("reserved", "held", "written")


def mean(values):
    values = [value for value in values if value is not None]
    return sum(values, Fraction(0)) / len(values) if values else None


class Log:
    """When things happened to one request, in seconds; only what was observed by ``end``."""

    def __init__(self, oracle, request, ticks, end):
        length, name = oracle.tick_length, request.id
        self.name, self.arrival, self.end = name, Fraction(request.arrival), end
        self.planned = request.output_tokens
        self.refused = any(name in t["refused"] for t in ticks)
        cancelled = [t["tick"] * length for t in ticks if name in t["cancelled"]]
        self.cancelled = cancelled[0] if cancelled else None
        starts = [t["tick"] * length for t in ticks if any(row[0] == name for row in t["prefill"])]
        self.start = starts[0] if starts else None
        tokens = [(t["tick"] + 1) * length for t in ticks for row in t["emitted"] if row[0] == name]
        self.tokens = [moment for moment in tokens if moment <= end]
        finished = [(t["tick"] + 1) * length for t in ticks for row in t["finished"] if row[0] == name]
        self.finish = finished[0] if finished and finished[0] <= end else None

    @property
    def first(self):
        return self.tokens[0] if self.tokens else None

    @property
    def queue(self):
        return None if self.start is None or self.start > self.end else self.start - self.arrival

    @property
    def ttft(self):
        return None if self.first is None else self.first - self.arrival

    @property
    def e2e(self):
        return None if self.finish is None else self.finish - self.arrival

    @property
    def tpot(self):
        if self.finish is None or len(self.tokens) < 2:
            return None
        return (self.finish - self.first) / (len(self.tokens) - 1)

    @property
    def gaps(self):
        return [b - a for a, b in zip(self.tokens, self.tokens[1:], strict=False)]

    @property
    def asked(self):
        """Output tokens: delivered ones once finished, else those asked for."""
        return self.planned if self.finish is None else len(self.tokens)

    def pace(self, end):
        """What the TPOT is at least, for one that has not finished."""
        return Fraction(0) if self.first is None else (end - self.first) / (self.asked - 1)

    def verdict(self, slo_ttft, slo_tpot):
        """met, missed, undecided, or left out (None)."""
        if self.refused:
            return "missed"
        if self.finish is not None:
            late = slo_ttft is not None and self.ttft > slo_ttft
            slow = slo_tpot is not None and self.tpot is not None and self.tpot > slo_tpot
            return "missed" if late or slow else "met"
        end = self.end if self.cancelled is None else self.cancelled
        first = self.first if self.first is not None and self.first <= end else None
        waited = (end if first is None else first) - self.arrival
        late = slo_ttft is not None and waited > slo_ttft
        slow = False
        if slo_tpot is not None and first is not None and self.planned > 1:
            slow = (end - first) / (self.planned - 1) > slo_tpot
        if late or slow:
            return "missed"
        return None if self.cancelled is not None else "undecided"


def rank(values, percent):
    values = sorted(values)
    return values[-(-percent * len(values) // 100) - 1]


def percentile(pairs, percent):
    """``pairs`` of (value or None, time already waited) → value, (lower, upper) or None."""
    if not pairs:
        return None
    low = rank([waited if value is None else value for value, waited in pairs], percent)
    high = rank([NEVER if value is None else value for value, _ in pairs], percent)
    if low == high:
        return low
    return (low, None if high == NEVER else high)


def window(oracle, ticks):
    """The end of the window: the last finish, or the horizon when somebody is left or it comes first.

    When nothing finished and nobody is left (all cancelled) it is the end of the run.
    """
    ends = [(t["tick"] + 1) * oracle.tick_length for t in ticks if t["finished"]]
    names = {row[0] for t in ticks for row in t["finished"]}
    gone = {name for t in ticks for key in ("refused", "cancelled") for name in t[key]}
    everybody = set(oracle.requests) <= names | gone
    last = max(ends, default=len(ticks) * oracle.tick_length)
    return min(last, oracle.horizon) if everybody else oracle.horizon


def in_system(log):
    """Seconds that a request was in the system, up to the end of the window."""
    return min(x for x in (log.finish, log.cancelled, log.end) if x is not None) - log.arrival


def peaks(oracle, ticks, end):
    """The backlog is read near the start of a tick, the KV at its end."""
    begun = [t for t in ticks if t["tick"] * oracle.tick_length < end]
    over = [t for t in ticks if (t["tick"] + 1) * oracle.tick_length <= end]
    found = {f"peak_{name}_tokens": max((t[name] for t in over), default=0) for name in KV}
    found["peak_backlog"] = max((len(t["waiting"]) for t in begun), default=0)
    return found


def measure(oracle, ticks, slo_ttft=None, slo_tpot=None):
    end = window(oracle, ticks)
    logs = [Log(oracle, request, ticks, end) for request in oracle.requests.values()]
    for log in logs:
        log.came = log.refused or log.arrival <= end
        if log.cancelled is not None and log.cancelled < log.arrival:
            log.came = False
    counted = [log for log in logs if log.came and not log.refused]
    if not counted:
        end = Fraction(0)
    verdicts = [log.verdict(slo_ttft, slo_tpot) for log in logs if log.came]
    met, missed, undecided = (verdicts.count(word) for word in ("met", "missed", "undecided"))
    asked = met + missed + undecided
    tokens = sum(len(log.tokens) for log in logs)
    ended = all(
        log.finish is not None or (NEVER if log.cancelled is None else log.cancelled) <= end
        for log in counted
    )
    inside = [in_system(log) for log in counted]
    values = {
        "ticks": len(ticks),
        "window": end,
        "throughput": tokens / end if end else None,
        "goodput": met / end if end else None,
        "attainment": Fraction(met, asked) if asked else None,
        "met": met,
        "missed": missed,
        "undecided": undecided,
        "mean_queue": mean([log.queue for log in counted]),
        "mean_ttft": mean([log.ttft for log in counted]),
        "mean_tpot": mean([log.tpot for log in counted]),
        "mean_e2e": mean([log.e2e for log in counted]),
        "mean_itl": mean([gap for log in counted for gap in log.gaps]),
        "arrival_rate": len(counted) / end if end else None,
        "mean_in_system": sum(inside, Fraction(0)) / end if end else None,
        "mean_time_in_system": mean(inside) if ended else None,
        **peaks(oracle, ticks, end),
    }
    for percent in (50, 95, 99):
        served = [log for log in counted if log.cancelled is None or log.ttft is not None]
        values[f"p{percent}_ttft"] = percentile([(x.ttft, end - x.arrival) for x in served], percent)
        served = [log for log in counted if log.cancelled is None]
        values[f"p{percent}_e2e"] = percentile([(x.e2e, end - x.arrival) for x in served], percent)
    several = [log for log in counted if log.asked > 1 and (log.cancelled is None or log.tpot is not None)]
    values["p95_tpot"] = percentile([(x.tpot, x.pace(end)) for x in several], 95)
    return values, {log.name: log for log in logs}
