"""Exhibits about numbers: whose formula, which percentile of how many, divided by whom, watched how long."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from engine import History, Metrics, Request, Service, simulate
from engine.measuring.percentiles import Range
from engine.traces import main_trace
from engine.words import Catalogue
from puzzles.charts import Axis, Chart, Point, Series, steps
from puzzles.exhibits.model import Exhibit
from puzzles.exhibits.traces import drawn
from puzzles.quantization import Sheet
from puzzles.tools import TOOLS, tool_values
from puzzles.words import DASH, number

# ---- which tool's TPOT? ----------------------------------------------------------------------------

# The two requests on which the formulas differ most: one that waits before its first token, one after.
CASES = (("R02", Service(policy="static")), ("R04", Service(tick=Decimal("1.0"))))


def tools(words: Catalogue) -> Exhibit:
    """A row per formula, a column per case."""
    found = [tool_values(simulate(main_trace(), service).metrics().requests[key]) for key, service in CASES]
    heads = [words("exhibit.tools.case", id=key, run=_run(service)) for key, service in CASES]
    rows = tuple(
        (", ".join(tool.names), tool.expression, *(_seconds(values[name]) for values in found))
        for name, tool in TOOLS.items()
    )
    heads = [words("exhibit.tools.tool"), words("exhibit.tools.formula"), *heads]
    return Exhibit(sheets=(Sheet(words("exhibit.tools.title"), tuple(heads), rows, labels=2),), answers=True)


def _run(service: Service) -> str:
    return f"{service.policy}, tick {service.tick} s"


def _seconds(value: Fraction | float | None) -> str:
    return DASH if value is None else f"{number(value)} s"


# ---- percentiles -----------------------------------------------------------------------------------

COUNTS = (4, 20, 100)
PERCENTS = (50, 95, 99)


def percentiles(words: Catalogue) -> Exhibit:
    """p50, p95 and p99 of the first 4, 20 and 100 requests of one trace, with the rank of each."""
    trace = drawn("percentiles-2", max(COUNTS), (9, 17), (4, 10), (2, 7))
    found = {count: _ttfts(trace[:count]) for count in COUNTS}
    heads = (
        words("exhibit.percentiles.requests"),
        *(f"p{percent}" for percent in PERCENTS),
        words("exhibit.percentiles.largest"),
    )
    rows = tuple(
        (str(count), *(_ranked(values, percent, words) for percent in PERCENTS), _seconds(values[-1]))
        for count, values in found.items()
    )
    return Exhibit(
        charts=(_percentile_curve(found, words),),
        sheets=(Sheet(words("exhibit.percentiles.title"), heads, rows),),
        points=(words("exhibit.percentiles.point", four=_seconds(found[4][-1]), all=_tail(found[100])),),
    )


def _ttfts(trace: tuple[Request, ...]) -> list[float]:
    requests = simulate(trace, Service()).metrics().requests
    return sorted(one.ttft for one in requests.values() if one.ttft is not None)


def rank(percent: int, count: int) -> int:
    """Nearest rank: the ⌈percent/100 · count⌉-th smallest."""
    return -(-percent * count // 100)


def _ranked(values: list[float], percent: int, words: Catalogue) -> str:
    place = rank(percent, len(values))
    shown = _seconds(values[place - 1])
    return words("exhibit.percentiles.rank", value=shown, rank=place, count=len(values))


def _tail(values: list[float]) -> str:
    return _seconds(values[rank(99, len(values)) - 1])


def _percentile_curve(found: dict[int, list[float]], words: Catalogue) -> Chart:
    ticks = steps([values[-1] for values in found.values()])
    return Chart(
        "percentiles",
        words("exhibit.percentiles.title"),
        words("exhibit.percentiles.picture"),
        Axis(words("exhibit.percentiles.x"), 0, 100, (0, 25, 50, 75, 95)),
        Axis("TTFT, s", 0, ticks[-1], ticks),
        tuple(
            Series(
                words("exhibit.percentiles.series", count=count),
                tuple(Point(100 * place / count, round(value, 4)) for place, value in enumerate(values, 1)),
                marks=count < max(COUNTS),
            )
            for count, values in found.items()
        ),
    )


# ---- SLO: divided by whom? -------------------------------------------------------------------------

HORIZON = Decimal("1.0")
TOO_LONG = Request("R05", Decimal("0.1"), 60, 8)  # more than the whole pool


def denominators(words: Catalogue) -> Exhibit:
    """One run with someone met, missed, undecided and refused, and four shares made of it."""
    run = simulate(_crowd(), Service(policy="static"), horizon=HORIZON)
    found = run.metrics(slo_ttft=Decimal("0.5"), slo_tpot=Decimal("0.15")).summary
    shares = {
        "finished": found.finished,
        "decided_served": found.met + found.missed - found.refused,
        "served": found.offered,
        "lab": found.met + found.missed + found.undecided,
    }
    heads = tuple(words(f"exhibit.denominators.{name}") for name in ("share", "whom", "met", "of", "percent"))
    rows = tuple(
        (
            words(f"exhibit.denominators.{name}.name"),
            words(f"exhibit.denominators.{name}.whom"),
            str(found.met),
            str(whole),
            f"{100 * found.met / whole:.0f} %",
        )
        for name, whole in shares.items()
    )
    names = ("met", "missed", "undecided", "refused", "finished")
    counts = {name: getattr(found, name) for name in names} | {"came": shares["lab"]}
    sheet = Sheet(words("exhibit.denominators.title"), heads, rows, labels=2)
    return Exhibit(sheets=(sheet,), points=(words("exhibit.denominators.point", **counts),))


def _crowd() -> tuple[Request, ...]:
    """R01–R04 with a short R00 that is served at once, and one that can never fit."""
    return (Request("R00", Decimal(0), 4, 2), *main_trace(), TOO_LONG)


# ---- the clock that stops --------------------------------------------------------------------------

WATCHED = Decimal(10)  # seconds: 100 ticks
POLICIES = ("static", "continuous")


def rush() -> tuple[Request, ...]:
    """Eighty requests that come faster than either policy serves them."""
    return drawn("stopped-26", 80, (1, 4), (4, 8), (1, 10))


def stopped(words: Catalogue) -> Exhibit:
    """Mean E2E of the finished after 100 ticks, and of all when the run has ended."""
    runs = {(policy, end): _watched(policy, end) for end in (WATCHED, None) for policy in POLICIES}
    heads = tuple(words(f"exhibit.stopped.{name}") for name in ("when", "policy", "done", "mean", "rate"))
    rows = tuple(
        (
            words("exhibit.stopped.end" if end is None else "exhibit.stopped.cut", ticks=100),
            policy,
            f"{found.summary.finished} / {found.summary.offered}",
            _seconds(_mean(found)),
            f"{found.summary.throughput:.1f} tok/s",
        )
        for (policy, end), found in runs.items()
    )
    blanks = {
        f"{policy}_{'end' if end is None else 'cut'}": _seconds(_mean(found))
        for (policy, end), found in runs.items()
    }
    sheet = Sheet(words("exhibit.stopped.title"), heads, rows, labels=2)
    return Exhibit(sheets=(sheet,), points=(words("exhibit.stopped.point", **blanks),), answers=True)


def _watched(policy: str, end: Decimal | None) -> Metrics:
    history: History = simulate(rush(), Service(policy=policy), horizon=end)
    return history.metrics()


def _mean(found: Metrics) -> float | None:
    value = found.summary.mean_e2e
    return None if value is None or isinstance(value, Range) else round(value, 2)
