"""The load of twenty requests served several ways: one by one, in static batches, continuously."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import msgspec

from engine.bench.load import SERVICE, Served, load, mean_tpot, mean_ttft, serve
from engine.bench.paper import milli, page, plain, ratio
from engine.bench.setting import Setting
from engine.bench.timing import median, paired_ratio, percentile, take_turns
from engine.cli.figures import percent
from engine.words import Catalogue

NAME = "serving"
POLICIES = {"one_by_one": "immediate", "static": "static", "continuous": "continuous"}


class Way(msgspec.Struct, frozen=True):
    """The load served one way: medians over repeats, wall-clock seconds, everything counted:
    scheduler, forward, delivery. ``forward`` is the share of it that the forwards took; ``speedup``
    is over one by one in fast mode, within the same repeat."""

    way: str
    exact: bool
    ticks: int
    seconds: float
    tokens_per_second: float
    mean_ttft: float
    p95_ttft: float
    mean_tpot: float
    forward: float
    speedup: float


class Serving(msgspec.Struct, frozen=True):
    """The load (all requests at time 0), and a row per way."""

    requests: int
    prompt_tokens: int
    output_tokens: int
    rows: tuple[Way, ...]


Key = tuple[str, bool]


def measure(setting: Setting) -> Serving:
    """Serve the load every way in turn, in fast and in exact mode."""
    requests = load()
    ways = {
        (name, exact): partial(serve, setting.model, SERVICE.replace(policy=policy), requests, exact=exact)
        for exact in (False, True)
        for name, policy in POLICIES.items()
    }
    runs = take_turns(ways, setting.repeats)
    base = [run.seconds for run in runs["one_by_one", False]]
    return Serving(
        requests=len(requests),
        prompt_tokens=sum(request.prompt_tokens for request in requests),
        output_tokens=sum(request.output_tokens for request in requests),
        rows=tuple(_row(key, found, base) for key, found in runs.items()),
    )


def _row(key: Key, runs: Sequence[Served], base: Sequence[float]) -> Way:
    took = [run.seconds for run in runs]
    return Way(
        way=key[0],
        exact=key[1],
        ticks=len(runs[0].records),
        seconds=median(took),
        tokens_per_second=runs[0].emitted / median(took),
        mean_ttft=median(map(mean_ttft, runs)),
        p95_ttft=median(percentile(run.ttft, 95) for run in runs),
        mean_tpot=median(map(mean_tpot, runs)),
        forward=median(run.forward / run.seconds for run in runs),
        speedup=paired_ratio(base, took),
    )


COLUMNS = "way mode ticks ms tokens_per_second mean_ttft p95_ttft mean_tpot forward speedup"


def tell(result: Serving, words: Catalogue) -> str:
    """The section as text."""
    rows = [
        (
            words(f"bench.way.{row.way}"),
            words("bench.mode.exact" if row.exact else "bench.mode.fast"),
            str(row.ticks),
            milli(row.seconds),
            plain(row.tokens_per_second),
            milli(row.mean_ttft),
            milli(row.p95_ttft),
            milli(row.mean_tpot, 2),
            percent(row.forward),
            ratio(row.speedup),
        )
        for row in result.rows
    ]
    return page(words, NAME, COLUMNS, rows, requests=result.requests, tokens=result.output_tokens)
