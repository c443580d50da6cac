"""The prefix cache on a load where it pays and on one where it saves nothing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import msgspec

from engine.bench.load import SERVICE, Served, mean_ttft, serve
from engine.bench.paper import grid, heading, milli, plain, ratio
from engine.bench.setting import Setting
from engine.bench.timing import mean, median, paired_ratio, take_turns
from engine.cli.timeline import timeline
from engine.history import History
from engine.prompts import prompts_for
from engine.requests import Request
from engine.words import Catalogue

NAME = "prefix"
REQUESTS, OUTPUT, QUESTION = 8, 8, 16
SYSTEM = (
    "Speak as the prince of Denmark would, in measured verse and never in haste. Answer whoever asks "
    "with courtesy, name no living king, keep to what the play itself has shown, and end the speech "
    "where the thought ends.\n"
)
BUDGET = 64  # prompt tokens per tick, so that a long prompt takes several

Key = tuple[str, bool]


class Prefix(msgspec.Struct, frozen=True):
    """One load with the prefix cache on or off: prompt tokens, how many of them were found, ticks;
    median wall-clock seconds from arrival to first token and in all; ``speedup`` in all over off.
    ``timeline`` shows every request tick by tick. ``equal``: the tokens are those with it off."""

    load: str
    cache: bool
    prompt_tokens: int
    found: int
    ticks: int
    ttft_ticks: float
    mean_ttft: float
    seconds: float
    speedup: float
    equal: bool
    timeline: str


def loads() -> dict[str, list[Request]]:
    """Eight requests, one every other tick: the same long beginning, or a text of its own each."""
    sizes = [
        Request(f"R{n + 1:02}", n * 2 * SERVICE.tick, len(SYSTEM) + QUESTION, OUTPUT) for n in range(REQUESTS)
    ]
    apart = prompts_for(sizes)
    shared = [msgspec.structs.replace(r, prompt=SYSTEM + str(r.prompt)[:QUESTION]) for r in apart]
    return {"shared": shared, "apart": apart}


def measure(setting: Setting) -> tuple[Prefix, ...]:
    """Both loads, the cache on and off in turn."""
    service = SERVICE.replace(prefill_budget=BUDGET)
    contenders = {
        (name, on): partial(serve, setting.model, service.replace(prefix_cache=on), requests)
        for name, requests in loads().items()
        for on in (False, True)
    }
    runs = take_turns(contenders, setting.repeats)
    return tuple(_row(key, found, runs[key[0], False], setting.words) for key, found in runs.items())


def _row(key: Key, runs: Sequence[Served], off: Sequence[Served], words: Catalogue) -> Prefix:
    requests = loads()[key[0]]
    history = History(SERVICE, {request.id: request for request in requests}, runs[0].records)
    metrics = history.metrics()
    ttft = [request.ttft for request in metrics.requests.values() if request.ttft is not None]
    return Prefix(
        load=key[0],
        cache=key[1],
        prompt_tokens=sum(request.prompt_tokens for request in requests),
        found=metrics.summary.prefix_hits,
        ticks=len(runs[0].records),
        ttft_ticks=mean(ttft) / float(SERVICE.tick),
        mean_ttft=median(mean_ttft(run) for run in runs),
        seconds=median(run.seconds for run in runs),
        speedup=paired_ratio([run.seconds for run in off], [run.seconds for run in runs]),
        equal=runs[0].tokens() == off[0].tokens(),
        timeline=timeline(history, words),
    )


COLUMNS = "load cache prompt_tokens found ticks ttft_ticks ttft_ms ms speedup"


def tell(result: Sequence[Prefix], words: Catalogue) -> str:
    """The section as text: the table, then the timeline of every row."""
    rows = [
        (
            words(f"bench.load.{row.load}"),
            words(f"bench.cache.{'on' if row.cache else 'off'}"),
            str(row.prompt_tokens),
            str(row.found),
            str(row.ticks),
            plain(row.ttft_ticks, 2),
            milli(row.mean_ttft, 2),
            milli(row.seconds),
            ratio(row.speedup),
        )
        for row in result
    ]
    lines = [heading(words, NAME, budget=BUDGET)]
    if not all(row.equal for row in result):
        lines.append(words("bench.note.unequal", count=sum(not row.equal for row in result)))
    lines += ["", grid(words, COLUMNS, rows)]
    legends = []
    for row, cells in zip(result, rows, strict=True):
        picture, _, legend = row.timeline.rpartition("\n\n")
        legends.append(legend)
        lines += ["", f"{cells[0]}, {cells[1]}", picture]
    return "\n".join([*lines, "", max(legends, key=len)])
