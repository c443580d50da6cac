"""What can be asked: each measure is a value read off the histories of an exercise's runs.

A measure asks about one request in one run, about one run, or which of several runs is best.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

import msgspec

from engine import Metrics, Service
from puzzles.finished import Finished
from puzzles.words import exact

REQUEST, RUN, CHOICE = "request", "run", "choice"
Value = Fraction | str | None
MEGABYTE = 1_000_000


class Measure(msgspec.Struct, frozen=True):
    """``scope`` says what is asked about, ``unit`` is s or MB (a choice has none)."""

    scope: str
    unit: str
    request: Callable[[Finished, str], Value] | None = None
    run: Callable[[Finished], Value] | None = None

    def tolerance(self, service: Service) -> Fraction:
        """Half a tick, or the KV of half a token: an answer is right when it is nearer than this."""
        return megabytes(Fraction(1, 2), service) if self.unit == "MB" else Fraction(service.tick) / 2


def megabytes(tokens: int | Fraction, service: Service) -> Fraction:
    """The toy KV of ``tokens`` tokens, in MB."""
    return tokens * Fraction(service.kv_bytes_per_token, MEGABYTE)


def _of_request(name: str) -> Callable[[Finished, str], Value]:
    def value(run: Finished, key: str) -> Value:
        found = getattr(run.metrics.requests[key], name)
        return None if found is None else exact(found)

    return value


def _reserve(run: Finished, key: str) -> Value:
    """The KV of prompt and output together: what is set aside when the request is admitted."""
    request = run.history.requests[key]
    return megabytes(request.prompt_tokens + request.output_tokens, run.history.service)


def _peak_held(run: Finished) -> Value:
    return megabytes(run.metrics.summary.peak_held_tokens, run.history.service)


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


MEASURES = {
    "ttft": Measure(REQUEST, "s", request=_of_request("ttft")),
    "tpot": Measure(REQUEST, "s", request=_of_request("tpot")),
    "e2e": Measure(REQUEST, "s", request=_of_request("e2e")),
    "queue": Measure(REQUEST, "s", request=_of_request("queue")),
    "kv_mb": Measure(REQUEST, "MB", request=_reserve),
    "peak_mb": Measure(RUN, "MB", run=_peak_held),
    "best_p95": Measure(CHOICE, ""),
}
