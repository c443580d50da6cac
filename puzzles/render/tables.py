"""The fragments: views, tables and verdicts as HTML. One function per table, no text of its own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from markupsafe import Markup

from engine import History
from engine.words import Catalogue
from puzzles import charts
from puzzles.charts import Chart, drawing
from puzzles.comparison import PolicyTable
from puzzles.evidence import EvidenceRow
from puzzles.exercise import Exercise
from puzzles.judging import BeliefHit, Item, Verdict, shown
from puzzles.page_counts import PageCount
from puzzles.quantization import (
    Recorded,
    Sheet,
    formats_sheet,
    layers_sheet,
    made,
    speed_sheet,
    texts_sheet,
)
from puzzles.render.environment import environment
from puzzles.rules import rule_lines
from puzzles.views.common import PALETTE, colours
from puzzles.views.model import Log, PageMap, Strip, Timeline
from puzzles.views.stories import Story
from puzzles.words import DASH, number, puzzle_words


def _macro(name: str, *values: Any) -> Markup:
    """The macro ``name`` of the templates, filled."""
    return Markup(getattr(environment().get_template("tables.html").module, name)(*values))


def timeline_table(view: Timeline, language: str, why: bool = False, captioned: bool = True) -> Markup:
    """A row per request, a cell per tick, and the legend.

    ``why``: each cell carries its sentence. ``captioned`` False: a heading beside it says the title.
    """
    return _macro("timeline", view, puzzle_words(language), why, captioned)


def pages_table(view: PageMap, language: str, ticks: Iterable[int] | None = None) -> Markup:
    """The pool in every tick, or in ``ticks``; as wide as its slots."""
    chosen = None if ticks is None else set(ticks)
    frames = [frame for frame in view.frames if chosen is None or frame.tick in chosen]
    return _macro("pages", view, frames, puzzle_words(language))


def strip_table(view: Strip, language: str) -> Markup:
    """The three ledgers tick by tick."""
    return _macro("strip", view, puzzle_words(language))


def log_table(view: Log, language: str) -> Markup:
    """The run in words; with the text so far when an engine has spoken."""
    return _macro("log", view, puzzle_words(language))


def story_table(view: Story, language: str) -> Markup:
    """The run per request: what it did for how long, and why."""
    return _macro("story", view, puzzle_words(language))


def metrics_table(table: PolicyTable, language: str) -> Markup:
    """Policies × metrics, the best of each column marked."""
    return _macro("policies", table, puzzle_words(language))


def evidence_table(rows: Iterable[EvidenceRow], language: str) -> Markup:
    """Tick rows in words."""
    return _macro("evidence", tuple(rows), puzzle_words(language))


def items_table(
    verdict: Verdict, language: str, answered: bool = True, words: Catalogue | None = None
) -> Markup:
    """Given, correct, difference and how the number comes about; ``answered``: only what was answered.

    ``words`` are those of the exercise, which may have choices of its own; None: those of this room.
    """
    rows = [item for item in verdict.items if item.given is not None or not answered]
    return _macro("items", rows, words or puzzle_words(language))


def answers_table(items: Iterable[Item], language: str, words: Catalogue | None = None) -> Markup:
    """The right values and how they come about, for whoever has written down their own."""
    return _macro("answers", tuple(items), words or puzzle_words(language))


def belief_block(
    hit: BeliefHit, language: str, item: Item | None = None, words: Catalogue | None = None
) -> Markup:
    """A belief: its name, what is wrong with it here, and the rows that refute it.

    With ``item`` the block also says which answer it is about. ``words`` as before.
    """
    words = words or puzzle_words(language)
    return _macro("belief", hit, "" if item is None else _answered(item, words), words)


def _answered(item: Item, words: Catalogue) -> str:
    given, correct = (shown(value, item.unit, words) for value in (item.given, item.correct))
    return words("answers.belief.field", label=item.label, given=given, correct=correct)


def page_counts_table(counts: Iterable[PageCount], language: str) -> Markup:
    """The pool at its fullest, a line per run."""
    return _macro("page_counts", tuple(counts), puzzle_words(language))


def quantization_table(recorded: Recorded, language: str) -> Markup:
    """The recorded bytes, errors and changed tokens of each weight format, with date and settings."""
    words = puzzle_words(language)
    note = Markup('<p class="note">{}</p>').format(made(recorded, words))
    return sheet_table(formats_sheet(recorded, words)) + note


def quantization_tables(recorded: Recorded, language: str) -> list[Markup]:
    """The rest of the record: texts, errors per layer, speed."""
    words = puzzle_words(language)
    return [sheet_table(sheet(recorded, words)) for sheet in (texts_sheet, layers_sheet, speed_sheet)]


def chart_figure(chart: Chart) -> Markup:
    """A chart as a figure with its key. Raises ValueError for a value outside its axis."""
    macro = environment().get_template("charts.html").module.chart  # type: ignore[attr-defined]
    return Markup(macro(chart, drawing(chart), SIZE))


SIZE = {
    "width": charts.WIDTH,
    "height": charts.HEIGHT,
    "left": charts.LEFT,
    "right": charts.WIDTH - charts.RIGHT,
    "top": charts.TOP,
    "bottom": charts.HEIGHT - charts.BOTTOM,
}


def sheet_table(sheet: Sheet) -> Markup:
    """A plain table of finished texts."""
    return _macro("sheet", sheet)


def trace_table(exercise: Exercise, language: str) -> Markup:
    """The requests of the exercise."""
    return _macro("trace", trace_rows(exercise), puzzle_words(language))


def requests_table(history: History, title: str, language: str) -> Markup:
    """What each request got: queue delay, TTFT, TPOT, E2E."""
    return _macro("requests", title, metric_rows(history), puzzle_words(language))


def rule_card(exercise: Exercise, language: str) -> Markup:
    """The rules of the toy in a few lines, with the exercise's own settings."""
    return _macro("rules", rule_lines(exercise, exercise.words(language)))


def trace_rows(exercise: Exercise) -> list[dict[str, Any]]:
    """The requests as a table prints them."""
    return [
        {
            "id": request.id,
            "colour": place % PALETTE,
            "arrival": number(request.arrival),
            "prompt_tokens": request.prompt_tokens,
            "output_tokens": request.output_tokens,
            "prompt": request.prompt if isinstance(request.prompt, str) else None,
        }
        for place, request in enumerate(exercise.requests)
    ]


def metric_rows(history: History) -> list[dict[str, Any]]:
    """The four times of each request."""
    palette, found = colours(history), history.metrics().requests
    return [
        {"id": key, "colour": palette[key], "texts": [_time(getattr(one, name)) for name in TIMES]}
        for key, one in found.items()
    ]


TIMES = ("queue", "ttft", "tpot", "e2e")


def _time(value: float | None) -> str:
    return DASH if value is None else number(value)
