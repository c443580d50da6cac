"""What differs between two runs, and nothing else: settings, requests, figures, and the tick it began."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from engine import Metrics, Request, Service, TickRecord
from engine.cli.figures import number, percent, setting_text, span
from engine.service import SETTINGS
from engine.words import Catalogue, engine_words
from puzzles.views.common import why

MOST_NAMED = 8  # requests of the first tick that differs
REQUEST_FIGURES = ("status", "queue", "ttft", "tpot", "e2e", "preempted", "recomputed_tokens")
SUMMARY_FIGURES = (
    "ticks",
    "throughput",
    "goodput",
    "attainment",
    "mean_ttft",
    "p50_ttft",
    "p95_ttft",
    "p99_ttft",
    "mean_tpot",
    "p95_tpot",
    "mean_itl",
    "mean_e2e",
    "p95_e2e",
    "mean_queue",
    "peak_backlog",
    "peak_reserved_tokens",
    "peak_held_tokens",
    "peak_written_tokens",
    "peak_pages",
    "preemptions",
    "recomputed_tokens",
)


class Side(msgspec.Struct, frozen=True):
    """One of the two runs; ``records`` are empty where none were kept."""

    service: Service
    requests: dict[str, Request]
    metrics: Metrics
    records: list[TickRecord]


class Change(msgspec.Struct, frozen=True):
    """One thing that differs, as text on both sides; ``of``: the request it is about, if it is about one."""

    name: str
    a: str
    b: str
    of: str = ""


class FirstTick(msgspec.Struct, frozen=True):
    """The first tick in which not the same happened, and what each run says of those concerned."""

    tick: int
    lines: tuple[Change, ...]


class Differences(msgspec.Struct, frozen=True):
    """Everything that differs; all of it empty for equal runs."""

    settings: tuple[Change, ...]
    trace: tuple[Change, ...]
    first: FirstTick | None
    requests: tuple[Change, ...]
    summary: tuple[Change, ...]

    @property
    def none(self) -> bool:
        """Whether the two runs are the same."""
        return not (self.settings or self.trace or self.first or self.requests or self.summary)


def differences(a: Side, b: Side, words: Catalogue) -> Differences:
    """Only what changed from ``a`` to ``b``, told in the language of ``words``."""
    return Differences(
        settings=tuple(_settings(a.service, b.service)),
        trace=tuple(_trace(a.requests, b.requests, words)),
        first=first_tick(a, b, words),
        requests=tuple(_requests(a.metrics, b.metrics, words)),
        summary=tuple(_summary(a.metrics, b.metrics)),
    )


def _settings(a: Service, b: Service) -> Iterable[Change]:
    for name in SETTINGS:
        before, after = getattr(a, name), getattr(b, name)
        if before != after:
            yield Change(name, setting_text(before), setting_text(after))


def _trace(a: Mapping[str, Request], b: Mapping[str, Request], words: Catalogue) -> Iterable[Change]:
    """Requests that only one of them has, and those that are not the same in both."""
    for key in dict.fromkeys((*a, *b)):
        before, after = (_line(side.get(key), words) for side in (a, b))
        if before != after:
            yield Change(key, before, after)


def _line(request: Request | None, words: Catalogue) -> str:
    if request is None:
        return words("diff.absent")
    lengths = {"prompt": request.prompt_tokens, "output": request.output_tokens}
    return words("diff.request", arrival=request.arrival, **lengths)


# ---- the first tick --------------------------------------------------------------------------------


def first_tick(a: Side, b: Side, words: Catalogue) -> FirstTick | None:
    """The first tick in which not the same was done; None for the same runs and where none were recorded."""
    if not a.records or not b.records:
        return None
    pairs = zip(a.records, b.records, strict=False)
    tick = next((one.tick for one, other in pairs if _done(one) != _done(other)), None)
    if tick is None and len(a.records) == len(b.records):
        return None
    tick = min(len(a.records), len(b.records)) if tick is None else tick
    return FirstTick(tick, tuple(_lines(a, b, tick, words))[:MOST_NAMED])


def _done(record: TickRecord) -> tuple[Any, ...]:
    """What happened to the requests, without why, memory, token values and measurements."""
    emitted = tuple((key, index) for key, index, _ in record.emitted)
    moves = (record.arrived, record.cancelled, record.refused, record.admitted, record.preempted)
    return (*moves, record.decode, record.prefill, emitted, record.finished, record.waiting, record.active)


def _lines(a: Side, b: Side, tick: int, words: Catalogue) -> Iterable[Change]:
    """Both sentences of each request that is told differently, those that act differently first."""
    for key in dict.fromkeys((*a.requests, *b.requests)):
        before, after = (_sentence(side, key, tick, words) for side in (a, b))
        if before != after:
            yield Change(key, before, after)


def _sentence(side: Side, key: str, tick: int, words: Catalogue) -> str:
    if key not in side.requests:
        return words("diff.absent")
    if tick >= len(side.records):
        return words("diff.over")
    arrived = any(key in record.arrived for record in side.records[: tick + 1])
    return why(side.records[tick], key, arrived, words)


# ---- figures ----------------------------------------------------------------------------------------


def _requests(a: Metrics, b: Metrics, words: Catalogue) -> Iterable[Change]:
    for key in (key for key in a.requests if key in b.requests):
        for name in REQUEST_FIGURES:
            before, after = (_figure(getattr(side.requests[key], name), words) for side in (a, b))
            if before != after:
                yield Change(name, before, after, of=key)


def _figure(value: Any, words: Catalogue) -> str:
    if isinstance(value, str):
        return engine_words(words.language)(f"status.{value}")
    return str(value) if isinstance(value, int) else number(value)


def _summary(a: Metrics, b: Metrics) -> Iterable[Change]:
    for name in SUMMARY_FIGURES:
        before, after = (_total(name, getattr(side.summary, name)) for side in (a, b))
        if before != after:
            yield Change(name, before, after)


def _total(name: str, value: Any) -> str:
    if name == "attainment":
        return percent(value)
    return str(value) if isinstance(value, int) else span(value)
