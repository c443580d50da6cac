"""What a neighbour's prefill does to the token gaps of those who decode: measured tick by tick."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from functools import partial

import msgspec

from engine.bench.load import SERVICE, Served, requests_of, serve
from engine.bench.paper import milli, page
from engine.bench.setting import Setting
from engine.bench.timing import median, take_turns
from engine.requests import Request
from engine.service import Service
from engine.words import Catalogue

NAME = "neighbour"
STREAMS, OUTPUT, PROMPT = 3, 24, 256
ARRIVES = 6  # tick in which the neighbour comes

WAYS = {
    "alone": SERVICE,
    "whole": SERVICE.replace(prefill_budget=PROMPT),
    "chunks": SERVICE.replace(prefill_budget=64),
    "shared": SERVICE.replace(shared_budget=32),
}
"""Nobody comes; the prompt in one tick; in chunks of 64; out of a budget of 32 with the decodes."""


class Moment(msgspec.Struct, frozen=True):
    """One tick: prompt tokens processed, requests that decoded, fewest seconds of the whole tick."""

    prefill: int
    decodes: int
    seconds: float


class Neighbour(msgspec.Struct, frozen=True):
    """Three requests decode, a fourth with a prompt of 256 tokens comes in tick 6, one way of
    serving it. ``gap`` is the longest tick from then on, ``first`` the seconds from its coming to
    its first token (None: nobody came)."""

    way: str
    ticks: tuple[Moment, ...]
    gap: float
    first: float | None


def measure(setting: Setting) -> tuple[Neighbour, ...]:
    """All ways in turn."""
    runs = take_turns(
        {name: partial(_serve, setting, name) for name in WAYS},
        3 * setting.repeats,
    )
    return tuple(_row(name, found) for name, found in runs.items())


def requests(way: str) -> list[Request]:
    """Three that decode from the start, and the neighbour unless they stay alone."""
    streams = requests_of([(16, OUTPUT)] * STREAMS)
    if way == "alone":
        return streams
    late = requests_of([(PROMPT, 2)], seed=1)[0]
    arrival = Decimal(ARRIVES) * Service().tick
    return [*streams, msgspec.structs.replace(late, id="neighbour", arrival=arrival)]


def _serve(setting: Setting, way: str) -> Served:
    return serve(setting.model, WAYS[way], requests(way))


def _row(way: str, runs: Sequence[Served]) -> Neighbour:
    ticks = tuple(_moment(place, runs) for place in range(OUTPUT))
    first = next((tick for tick, record in enumerate(runs[0].records) if _spoke(record.emitted)), None)
    wait = None if first is None else sum(tick.seconds for tick in ticks[ARRIVES : first + 1])
    return Neighbour(way, ticks, max(tick.seconds for tick in ticks[ARRIVES:]), wait)


def _spoke(emitted: Sequence[tuple[str, int, int | None]]) -> bool:
    return any(key == "neighbour" for key, _, _ in emitted)


def _moment(place: int, runs: Sequence[Served]) -> Moment:
    record = runs[0].records[place]
    prefill = sum(count for _, _, count, _ in record.prefill)
    return Moment(prefill, len(record.decode), min(_length(run, place) for run in runs))


def _length(run: Served, place: int) -> float:
    return run.clock[place] - (run.clock[place - 1] if place else 0.0)


COLUMNS = "kind prompt_ticks tick_before_ms gap_ms first_ms"


def tell(result: Sequence[Neighbour], words: Catalogue) -> str:
    """The section as text."""
    rows = [
        (
            words(f"bench.neighbour.{row.way}"),
            str(sum(tick.prefill > 0 for tick in row.ticks[ARRIVES:])),
            milli(median(tick.seconds for tick in row.ticks[1:ARRIVES]), 2),
            milli(row.gap, 2),
            "—" if row.first is None else milli(row.first, 2),
        )
        for row in result
    ]
    return page(words, NAME, COLUMNS, rows, prompt=PROMPT)
