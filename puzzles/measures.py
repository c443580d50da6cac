"""What can be asked: each measure is a value read off the histories of an exercise's runs.

A measure asks about one request in one run, about one run, or which of several runs is best.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

import msgspec

from engine import Metrics, Service
from engine.kv.pages import pages_for
from engine.measuring.percentiles import Range
from engine.measuring.progress import Life
from puzzles.finished import Finished
from puzzles.tools import TOOLS
from puzzles.units import UNITS, at_least
from puzzles.words import exact

REQUEST, RUN, CHOICE = "request", "run", "choice"
Value = Fraction | str | None
MEGABYTE = 1_000_000


class Measure(msgspec.Struct, frozen=True):
    """``scope`` says what is asked about, ``unit`` is one of units.py (a choice has none).

    ``pace``: a time per token. Half a tick is half of it, and would take n tokens for n − 1 gaps.
    """

    scope: str
    unit: str
    request: Callable[[Finished, str], Value] | None = None
    run: Callable[[Finished], Value] | None = None
    pace: bool = False

    def tolerance(self, service: Service) -> Fraction:
        """An answer is right when it is nearer than this."""
        return Fraction(service.tick) / 10 if self.pace else tolerance(self.unit, service)


def tolerance(unit: str, service: Service) -> Fraction:
    """Half a tick, the KV of half a token, or what the unit says."""
    near = UNITS[unit].near if unit else Fraction(0)
    if near is not None:
        return near
    return megabytes(Fraction(1, 2), service) if unit == "MB" else Fraction(service.tick) / 2


def megabytes(tokens: int | Fraction, service: Service) -> Fraction:
    """The toy KV of ``tokens`` tokens, in MB."""
    return tokens * Fraction(service.kv_bytes_per_token, MEGABYTE)


def _number(found: float | Range | None) -> Value:
    """A figure of the metrics; a censored one is the text of its bound, an interval is no answer."""
    if isinstance(found, Range):
        return at_least(found.at_least) if found.at_most is None else None
    return None if found is None else exact(found)


# ---- one request -------------------------------------------------------------------------------


def _of_request(name: str, pace: bool = False) -> Measure:
    def value(run: Finished, key: str) -> Value:
        return _number(getattr(run.metrics.requests[key], name))

    return Measure(REQUEST, "s", request=value, pace=pace)


def _count_of(name: str, unit: str = "tokens") -> Measure:
    return Measure(REQUEST, unit, request=lambda run, key: Fraction(getattr(run.metrics.requests[key], name)))


def _moment(of: Callable[[Life], int | None]) -> Measure:
    """A moment on the clock of the trace, from the tick that ``of`` names."""

    def value(run: Finished, key: str) -> Value:
        tick = of(run.lives[key])
        return None if tick is None else tick * Fraction(run.history.service.tick)

    return Measure(REQUEST, "s", request=value)


def _reserved(run: Finished, key: str) -> Fraction:
    request = run.history.requests[key]
    return Fraction(request.prompt_tokens + request.output_tokens)


def _reserve(run: Finished, key: str) -> Value:
    """The KV of prompt and output together: what is set aside when the request is admitted."""
    return megabytes(_reserved(run, key), run.history.service)


def _pages(run: Finished, key: str) -> Value:
    return Fraction(pages_for(int(_reserved(run, key)), run.history.service.page_size))


def _prefill(run: Finished, key: str) -> Value:
    """From the start of its prefill to its first token."""
    one = run.metrics.requests[key]
    return None if one.ttft is None or one.queue is None else exact(one.ttft) - exact(one.queue)


def _tool(name: str) -> Measure:
    def value(run: Finished, key: str) -> Value:
        return TOOLS[name].formula(run.metrics.requests[key])

    return Measure(REQUEST, "s", request=value, pace=True)


OF_A_REQUEST = {
    "ttft": _of_request("ttft"),
    "tpot": _of_request("tpot", pace=True),
    "e2e": _of_request("e2e"),
    "queue": _of_request("queue"),
    "prefill": Measure(REQUEST, "s", request=_prefill),
    "start": _moment(lambda life: life.start),
    "first": _moment(lambda life: life.tokens[0] + 1 if life.tokens else None),
    "last": _moment(lambda life: life.tokens[-1] + 1 if life.status == "finished" else None),
    "prompt": _count_of("prompt_tokens"),
    "output": _count_of("output_tokens"),
    "recomputed": _count_of("recomputed_tokens"),
    "reserved": Measure(REQUEST, "tokens", request=_reserved),
    "pages": Measure(REQUEST, "pages", request=_pages),
    "kv_mb": Measure(REQUEST, "MB", request=_reserve),
    **{f"tpot_{name}": _tool(name) for name in TOOLS},
}


# ---- one run -----------------------------------------------------------------------------------


def _of_run(name: str, unit: str, times: int = 1, pace: bool = False) -> Measure:
    def value(run: Finished) -> Value:
        found = _number(getattr(run.metrics.summary, name))
        return found * times if isinstance(found, Fraction) else found

    return Measure(RUN, unit, run=value, pace=pace)


def _peak_held(run: Finished) -> Value:
    return megabytes(run.metrics.summary.peak_held_tokens, run.history.service)


def _max_ttft(run: Finished) -> Value:
    found = [one.ttft for one in run.metrics.requests.values()]
    return max(exact(ttft) for ttft in found if ttft is not None) if None not in found else None


def _together(run: Finished) -> Value:
    """The most requests that were admitted at a time."""
    return Fraction(max(len(record.active) for record in run.history.records))


def _slots(run: Finished) -> Value:
    return Fraction(run.metrics.summary.peak_pages * run.history.service.page_size)


def _output(run: Finished) -> Value:
    return Fraction(sum(life.token_count for life in run.lives.values()))


def good(run: Finished) -> list[str]:
    """The requests that met every limit of the exercise."""
    return [key for key, one in run.metrics.requests.items() if run.limits.met(one)]


def _good_tokens(run: Finished) -> Value:
    """Output tokens per second, of the requests that met their limits."""
    window = exact(run.metrics.summary.window)
    tokens = sum(run.history.requests[key].output_tokens for key in good(run))
    return tokens / window if window else None


def _good_of_finished(run: Finished) -> Value:
    summary = run.metrics.summary
    return Fraction(100 * summary.met, summary.finished) if summary.finished else None


def _linear(percent: int) -> Callable[[Finished], Value]:
    """A TTFT percentile as interpolation between neighbours gives it: not what the lab reports."""

    def value(run: Finished) -> Value:
        found = sorted(exact(one.ttft) for one in run.metrics.requests.values() if one.ttft is not None)
        place = Fraction(percent, 100) * (len(found) - 1)
        low = int(place)
        high = min(low + 1, len(found) - 1)
        return found[low] + (place - low) * (found[high] - found[low])

    return value


def _worst_finished(run: Finished) -> Value:
    """The largest E2E of those that finished: what a percentile over the finished alone would say."""
    found = [exact(one.e2e) for one in run.metrics.requests.values() if one.e2e is not None]
    return max(found, default=None)


def _used_at_start(run: Finished) -> Value:
    """Pages somebody has at the end of tick 0."""
    return Fraction(len({page for table in run.history.records[0].pages.values() for page in table}))


OF_A_RUN = {
    **{f"mean_{name}": _of_run(f"mean_{name}", "s") for name in ("ttft", "e2e", "queue")},
    **{f"mean_{name}": _of_run(f"mean_{name}", "s", pace=True) for name in ("tpot", "itl")},
    **{name: _of_run(name, "s") for name in ("p50_ttft", "p95_ttft", "p95_e2e", "window")},
    "max_ttft": Measure(RUN, "s", run=_max_ttft),
    "p95_linear": Measure(RUN, "s", run=_linear(95)),
    "p50_linear": Measure(RUN, "s", run=_linear(50)),
    "max_e2e_finished": Measure(RUN, "s", run=_worst_finished),
    "throughput": _of_run("throughput", "tok/s"),
    "good_tokens": Measure(RUN, "tok/s", run=_good_tokens),
    "goodput": _of_run("goodput", "req/s"),
    "arrival_rate": _of_run("arrival_rate", "req/s"),
    "attainment": _of_run("attainment", "%", 100),
    "good_of_finished": Measure(RUN, "%", run=_good_of_finished),
    **{name: _of_run(name, "requests") for name in ("met", "missed", "undecided", "finished", "refused")},
    "offered": _of_run("offered", "requests"),
    "peak_backlog": _of_run("peak_backlog", "requests"),
    "mean_in_system": _of_run("mean_in_system", "requests"),
    "together": Measure(RUN, "requests", run=_together),
    "ticks": _of_run("ticks", "ticks"),
    "tokens": Measure(RUN, "tokens", run=_output),
    **{f"peak_{name}": _of_run(f"peak_{name}_tokens", "tokens") for name in ("reserved", "held", "written")},
    "peak_pages": _of_run("peak_pages", "pages"),
    "peak_slots": Measure(RUN, "slots", run=_slots),
    "used_at_start": Measure(RUN, "pages", run=_used_at_start),
    "pool_pages": Measure(RUN, "pages", run=lambda run: Fraction(run.history.service.pages or 0)),
    "tick": Measure(RUN, "s", run=lambda run: Fraction(run.history.service.tick)),
    "decode_slots": Measure(RUN, "requests", run=lambda run: Fraction(run.history.service.decode_slots)),
    "batch_size": Measure(RUN, "requests", run=lambda run: Fraction(run.history.service.batch_size)),
    "prefill_budget": Measure(RUN, "tokens", run=lambda run: Fraction(run.history.service.prefill_budget)),
    "preemptions": _of_run("preemptions", "times"),
    "recomputed_tokens": _of_run("recomputed_tokens", "tokens"),
    "peak_mb": Measure(RUN, "MB", run=_peak_held),
}


# ---- a choice ----------------------------------------------------------------------------------


def p95_ttft(metrics: Metrics) -> Fraction | None:
    """p95 TTFT of a run; None when its window does not decide it."""
    value = metrics.summary.p95_ttft
    return exact(value) if isinstance(value, float) else None


def smallest(values: Mapping[str, Fraction | None]) -> list[str]:
    """The names whose value is the smallest; nobody when a value is missing."""
    known = [value for value in values.values() if value is not None]
    if len(known) < len(values):
        return []
    return [name for name, value in values.items() if value == min(known)]


MEASURES = OF_A_REQUEST | OF_A_RUN | {"best_p95": Measure(CHOICE, "")}
