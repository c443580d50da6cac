"""The figures as aligned text, beside the budgets they are held against."""

from __future__ import annotations

from collections.abc import Iterator

from app.bench.figures import Browser, Figures, Spread, Weight
from engine.bench.paper import plain
from engine.cli.figures import NOTHING
from engine.cli.table import table
from engine.words import Catalogue

Row = tuple[str, str, str]

# The budgets of the design, as (figure, budget) pairs of the table: they are shown, never asserted.
JOIN_CPU, LAST, STEP_ALONE, STEP_TOGETHER, MEMORY, WEIGHT = 0.15, 12, 150, 500, 2, 1000


def report(figures: Figures, words: Catalogue) -> str:
    """All of it."""
    parts = [words("title", **figures.asked), words("machine", **figures.machine), ""]
    header = (words("column.what"), words("column.figure"), words("column.budget"))
    rows = [row for section in (_join, _lesson, _server, _page) for row in section(figures, words)]
    if figures.browser:
        rows += _browser(figures.browser, words)
    parts += [table([header, *rows, _errors(figures, words)], "lrr")]
    parts += [words("error", text=text) for text in dict.fromkeys(figures.errors)]
    return "\n".join(parts)


def _errors(figures: Figures, words: Catalogue) -> Row:
    return words("row.errors"), str(len(figures.errors)), "0"


def _join(figures: Figures, words: Catalogue) -> Iterator[Row]:
    asked = figures.asked["learners"]
    yield words("row.joined"), f"{figures.joined} / {asked}", ""
    yield words("row.cpu_per_join"), _unit(figures.cpu_per_join, "s", 3), f"≤ {JOIN_CPU} s"
    yield words("row.join"), waits(figures.join), ""
    yield words("row.last_usable"), _unit(figures.last_usable, "s", 1), f"≤ {LAST} s"


def _lesson(figures: Figures, words: Catalogue) -> Iterator[Row]:
    yield words("row.draft"), waits(figures.draft), ""
    yield words("row.lock"), waits(figures.lock), ""
    yield words("row.new_tick"), waits(figures.new_tick), ""
    yield words("row.step_alone"), waits(figures.step_alone), f"p95 ≤ {STEP_ALONE} ms"
    yield words("row.step_together"), waits(figures.step_together), f"p95 ≤ {STEP_TOGETHER} ms"
    yield words("row.end"), waits(figures.end), ""
    yield words("row.verdict"), waits(figures.verdict), ""


def _server(figures: Figures, words: Catalogue) -> Iterator[Row]:
    yield words("row.cpu_per_step"), _unit(figures.cpu_per_step, "ms", 1, 1000), ""
    yield words("row.idle_cpu"), _unit(figures.idle_cpu, "%", 1, 100), ""
    yield words("row.memory_per_join"), _unit(figures.memory_per_join, "MB", 2, 1e-6), ""
    yield words("row.memory_per_learner"), _unit(figures.memory_per_learner, "MB", 2, 1e-6), f"≤ {MEMORY} MB"
    yield words("row.step_bytes"), _kilo(figures.step_bytes), ""
    yield words("row.step_bytes_unpacked"), _kilo(figures.step_bytes_unpacked), ""
    yield words("row.step_bytes_up"), _unit(figures.step_bytes_up, "B", 0), ""


def _page(figures: Figures, words: Catalogue) -> Iterator[Row]:
    if figures.weight:
        yield from _weight(figures.weight, words)


def _weight(weight: Weight, words: Catalogue) -> Iterator[Row]:
    yield words("row.weight", requests=weight.requests), _kilo(weight.bytes), f"≤ {WEIGHT:,} kB"
    for kind, size in sorted(weight.kinds.items(), key=lambda one: -one[1]):
        yield words("row.kind", kind=words(f"kind.{kind}")), _kilo(size), ""
    yield words("row.second_visit"), _kilo(weight.second_visit), ""
    yield words("row.outside"), ", ".join(weight.outside) or "0", "0"


def _browser(browser: Browser, words: Catalogue) -> Iterator[Row]:
    yield words("row.browser"), "", ""
    yield words("row.browser_ready"), _unit(browser.ready, "s", 1), ""
    yield words("row.painted_alone"), waits(browser.alone), f"p95 ≤ {STEP_ALONE} ms"
    beside = words("row.painted_beside", count=browser.beside)
    yield beside, waits(browser.together), f"p95 ≤ {STEP_TOGETHER} ms"
    yield words("row.sent", ticks=browser.played_ticks), str(browser.sent), "0"
    if browser.cold:
        yield from _weight(browser.cold, words)


def waits(found: Spread | None) -> str:
    """p50 / p95 in milliseconds."""
    return NOTHING if found is None else f"{plain(found.p50 * 1000)} / {plain(found.p95 * 1000)} ms"


def _kilo(size: float | None) -> str:
    return _unit(size, "kB", 1, 1e-3)


def _unit(value: float | None, unit: str, digits: int, factor: float = 1) -> str:
    return NOTHING if value is None else f"{plain(value * factor, digits)} {unit}"
