"""The table the lesson is about: policies × metrics."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from engine import History, Service
from engine.measuring.metrics import Summary
from engine.measuring.percentiles import Range
from engine.words import Catalogue
from puzzles.asking import runs_of_part
from puzzles.exercise import Exercise
from puzzles.measures import megabytes
from puzzles.solving import observed
from puzzles.words import DASH, number, plain, run_name

Number = float | Range | None


class Column(msgspec.Struct, frozen=True):
    """A metric: ``unit`` as printed, ``better`` is low, high, or empty where neither is better."""

    key: str
    label: str
    unit: str
    better: str


class PolicyRow(msgspec.Struct, frozen=True):
    """One run: a value and its text per column, ``best`` where no other run is better."""

    run: str
    title: str
    values: tuple[float | None, ...]
    texts: tuple[str, ...]
    best: tuple[bool, ...]


class PolicyTable(msgspec.Struct, frozen=True):
    """Runs × metrics; ``caption`` says which limits the goodput column uses."""

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[PolicyRow, ...]


# (key, unit, better). KV peak is the tokens held, in MB; throughput tells what goodput does not.
COLUMNS = (
    ("mean_ttft", "s", "low"),
    ("mean_tpot", "s", "low"),
    ("mean_e2e", "s", "low"),
    ("p95_ttft", "s", "low"),
    ("throughput", "tok/s", "high"),
    ("goodput", "req/s", "high"),
    ("met", "", "high"),
    ("peak_backlog", "", "low"),
    ("peak_held_mb", "MB", ""),
)


def policy_table(exercise: Exercise, histories: Mapping[str, History], words: Catalogue) -> PolicyTable:
    """The runs that the exercise compares, side by side."""
    limits, seen = exercise.limits, observed(exercise, histories)
    return table_of({name: seen[name] for name in compared(exercise)}, limits.ttft, limits.tpot, words)


def compared(exercise: Exercise) -> tuple[str, ...]:
    """The runs that the fields of the first part are about, in order; of all parts when that is only one,
    which would compare nothing."""
    by_part = [runs_of_part(exercise, part.name) for part in exercise.parts]
    return by_part[0] if len(by_part[0]) > 1 else tuple(run for runs in by_part for run in runs)


def table_of(
    histories: Mapping[str, History], slo_ttft: object, slo_tpot: object, words: Catalogue
) -> PolicyTable:
    """Any runs side by side under the given limits (s, None for no limit)."""
    summaries = {
        name: (history.metrics(slo_ttft, slo_tpot).summary, history.service)
        for name, history in histories.items()
    }
    return summaries_table(summaries, slo_ttft, slo_tpot, words)


def summaries_table(
    summaries: Mapping[str, tuple[Summary, Service]], slo_ttft: object, slo_tpot: object, words: Catalogue
) -> PolicyTable:
    """The same from summaries that were made under these limits, where no records were kept."""
    figures = {name: _figures(*summary) for name, summary in summaries.items()}
    blanks = {"ttft": DASH if slo_ttft is None else slo_ttft, "tpot": DASH if slo_tpot is None else slo_tpot}
    return PolicyTable(
        caption=words("table.policies", **blanks),
        columns=tuple(Column(key, words(f"column.{key}"), unit, better) for key, unit, better in COLUMNS),
        rows=tuple(_row(name, figures, words) for name in figures),
    )


def _figures(summary: Summary, service: Service) -> list[tuple[Number, str]]:
    """Value and text of each column."""
    held = float(megabytes(summary.peak_held_tokens, service))
    values = [held if key == "peak_held_mb" else getattr(summary, key) for key, _, _ in COLUMNS]
    return [(value, _text(key, value, summary)) for (key, _, _), value in zip(COLUMNS, values, strict=True)]


def _text(key: str, value: Number, summary: Summary) -> str:
    if value is None:
        return DASH
    if isinstance(value, Range):
        return f"≥ {number(value.at_least)}" if value.at_most is None else _span(value)
    if key == "met":
        return f"{summary.met}/{summary.met + summary.missed + summary.undecided}"
    if key in ("peak_backlog", "peak_held_mb"):
        return plain(value)
    return f"{value:.2f}" if key == "throughput" else number(value)


def _span(value: Range) -> str:
    assert value.at_most is not None
    return f"{number(value.at_least)}–{number(value.at_most)}"


def _row(name: str, figures: Mapping[str, list[tuple[Number, str]]], words: Catalogue) -> PolicyRow:
    columns = list(zip(*figures.values(), strict=True))
    mine = figures[name]
    return PolicyRow(
        run=name,
        title=run_name(name, words),
        values=tuple(float(v) if isinstance(v, int | float) else None for v, _ in mine),
        texts=tuple(text for _, text in mine),
        best=tuple(
            _best(value, [v for v, _ in column], better)
            for (value, _), column, (_, _, better) in zip(mine, columns, COLUMNS, strict=True)
        ),
    )


def _best(value: Number, column: list[Number], better: str) -> bool:
    """Whether a value is the best of its column; nobody is where all are equal or one is unknown."""
    known = [v for v in column if isinstance(v, int | float)]
    if not better or len(known) < len(column) or len(set(known)) == 1:
        return False
    return value == (min(known) if better == "low" else max(known))
