"""The summary of a run as a table: a figure, its unit, and what it counts."""

from __future__ import annotations

from engine.cli.figures import number, percent, span
from engine.cli.shown import Limits, Shown
from engine.cli.table import table
from engine.measuring.metrics import Metrics, Summary
from engine.service import Service
from engine.words import Catalogue

COUNTED = ("finished", "in_flight", "waiting", "refused", "cancelled", "failed")
MEGABYTE = 1_000_000


def summary(shown: Shown, words: Catalogue) -> str:
    """The title with the window, and a row per figure."""
    found = shown.metrics.summary
    horizon = shown.horizon is not None and found.window == float(shown.horizon)
    title = words(
        "cli.window_horizon" if horizon else "cli.window_finish", end=number(found.window), ticks=found.ticks
    )
    header = tuple(words(f"cli.column.{name}") for name in ("figure", "value", "meaning"))
    rows = [
        *_work(found, shown.limits, words),
        *_latencies(shown.metrics, words),
        *_memory(shown.service, found, words),
        *_system(found, words),
    ]
    named = [(words(f"cli.row.{name}"), value, remark) for name, value, remark in rows]
    return title + "\n" + table([header, *named], "lrl")


Row = tuple[str, str, str]


def _work(found: Summary, limits: Limits, words: Catalogue) -> list[Row]:
    counts = [words(f"cli.count.{n}", count=getattr(found, n)) for n in COUNTED if getattr(found, n)]
    delivered = words("cli.meaning.throughput")
    if found.throughput != found.throughput_finished:
        finished = number(found.throughput_finished)
        delivered += words("cli.meaning.throughput_finished", value=finished)
    verdicts = {"met": found.met, "missed": found.missed, "undecided": found.undecided}
    return [
        ("requests", str(found.offered + found.refused), words("list.separator").join(counts)),
        ("throughput", number(found.throughput), delivered),
        ("goodput", number(found.goodput), _goodput(limits, words)),
        ("attainment", percent(found.attainment), words("cli.meaning.attainment", **verdicts)),
    ]


def _goodput(limits: Limits, words: Catalogue) -> str:
    given = [words(f"cli.limit.{name}", value=value) for name, value in limits.items() if value is not None]
    if not given:
        return words("cli.meaning.goodput_free")
    return words("cli.meaning.goodput", limits=words("list.separator").join(given))


def _latencies(metrics: Metrics, words: Catalogue) -> list[Row]:
    found = metrics.summary
    defined = sum(request.tpot is not None for request in metrics.requests.values())
    several = words("cli.meaning.tpot", count=defined, offered=found.offered)
    return [
        ("mean_ttft", number(found.mean_ttft), words("cli.meaning.per_request")),
        ("p50_ttft", span(found.p50_ttft), _ranked(found, "ttft", words)),
        ("p95_ttft", span(found.p95_ttft), _ranked(found, "ttft", words)),
        ("p99_ttft", span(found.p99_ttft), _ranked(found, "ttft", words)),
        ("mean_tpot", number(found.mean_tpot), several),
        ("p95_tpot", span(found.p95_tpot), words("cli.meaning.p95_tpot")),
        ("mean_itl", number(found.mean_itl), words("cli.meaning.itl")),
        ("mean_e2e", number(found.mean_e2e), words("cli.meaning.per_request")),
        ("p95_e2e", span(found.p95_e2e), _ranked(found, "e2e", words)),
        ("mean_queue", number(found.mean_queue), words("cli.meaning.queue")),
    ]


def _ranked(found: Summary, name: str, words: Catalogue) -> str:
    """Of how many the percentile is, and who is left out of it."""
    left = found.left_out[name]
    text = words("cli.meaning.rank", count=found.offered - left)
    if left:
        text += words("list.separator") + words("cli.count.left_out", count=left)
    if found.refused:
        text += words("list.separator") + words("cli.count.refused", count=found.refused)
    return text


def _memory(service: Service, found: Summary, words: Catalogue) -> list[Row]:
    per_token = service.kv_bytes_per_token
    rows = []
    for name in ("reserved", "held", "written"):
        tokens = getattr(found, f"peak_{name}_tokens")
        size = number(tokens * per_token / MEGABYTE, 2)
        rows.append((f"peak_{name}", str(tokens), words(f"cli.meaning.{name}", megabytes=size)))
    layout = "pages" if service.kv_layout == "paged" else "slots"
    total = service.pages if layout == "pages" else service.slots
    pool = words("cli.unlimited") if total is None else str(total)
    rows.append((f"peak_{layout}", str(found.peak_pages), words(f"cli.meaning.{layout}", total=pool)))
    return rows


def _system(found: Summary, words: Catalogue) -> list[Row]:
    return [
        ("peak_backlog", str(found.peak_backlog), words("cli.meaning.backlog")),
        ("arrival_rate", number(found.arrival_rate), words("cli.meaning.arrival_rate")),
        ("mean_in_system", number(found.mean_in_system), words("cli.meaning.in_system")),
        ("mean_time_in_system", number(found.mean_time_in_system), words("cli.meaning.time_in_system")),
    ]
