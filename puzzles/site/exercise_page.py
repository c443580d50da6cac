"""What the page of one exercise shows: everything computed from its runs, everything in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from markupsafe import Markup

from engine import History
from engine.words import Catalogue
from puzzles.asking import Field, fields, runs_of_part
from puzzles.comparison import table_of
from puzzles.derivations import derivation
from puzzles.exercise import Exercise, Part
from puzzles.judging import case_of
from puzzles.measures import MEASURES, megabytes
from puzzles.page_counts import page_counts
from puzzles.quantization import Recorded
from puzzles.render import (
    answers_table,
    metrics_table,
    page_counts_table,
    pages_table,
    quantization_table,
    quantization_tables,
    requests_table,
    rule_card,
    story_table,
    timeline_table,
    trace_table,
)
from puzzles.render.tables import trace_rows
from puzzles.rules import rule_blanks
from puzzles.site.belief_section import beliefs
from puzzles.solving import histories, in_ledger
from puzzles.units import unit_name
from puzzles.views import page_map, story, timeline
from puzzles.views.common import title
from puzzles.words import number, plain, puzzle_words, run_name

TOLD = 8  # requests whose run is told in words
SPARE = 1  # empty ticks at the end of a sheet, so that its length gives nothing away
COMMAND_SEED = 11  # the seed that the page names for the command line


def exercise_context(exercise: Exercise, language: str, recorded: Recorded | None) -> dict[str, Any]:
    """Everything the template of the page asks for."""
    words, found = exercise.words(language), histories(exercise)
    page = ExercisePage(exercise, language, words, found)
    parts = [page.part(part) for part in exercise.parts]
    return {
        "t": words,
        "exercise": exercise,
        "title": page.title(),
        "rule_card": rule_card(exercise, language),
        "trace": trace_table(exercise, language),
        "plain": page.plain,
        "readings": None if page.plain else page.readings(),
        "rows": trace_rows(exercise),
        "parts": parts,
        "sheets": [] if page.plain else page.sheets(),
        "kv": page.kv(),
        "beliefs": beliefs(exercise, language),
        "quantization": None if page.plain else quantization(language, recorded),
        "another_seed": COMMAND_SEED,
    }


class ExercisePage:
    """One exercise in one language, with its finished runs."""

    def __init__(
        self, exercise: Exercise, language: str, words: Catalogue, found: dict[str, History]
    ) -> None:
        self.exercise = exercise
        self.language = language
        self.words = words
        self.histories = found
        self.case = case_of(exercise, found, language)
        self.fields = fields(exercise)

    def title(self) -> str:
        """The heading; a variant names its seed."""
        own = self.words("title")
        seed = self.exercise.seed
        return self.words("again.title", title=own, seed=seed) if seed else own

    def readings(self) -> dict[str, str]:
        """The three ledgers in words, with the figures of the first two requests."""
        first, second = self.exercise.requests[:2]
        tokens, service = first.prompt_tokens + first.output_tokens, self.histories[self.first].service
        figures = rule_blanks(self.exercise) | {
            "first": first.id,
            "second": second.id,
            "prompt": str(first.prompt_tokens),
            "prompt2": str(second.prompt_tokens),
            "output": str(first.output_tokens),
            "reserve": plain(megabytes(tokens, service)),
        }
        return {name: self.words(f"reading.{name}", **figures) for name in ("prefill", "decode", "kv")}

    @property
    def first(self) -> str:
        """The run whose settings the rules name."""
        return self.exercise.runs[0].name

    # ---- questions -----------------------------------------------------------------------------

    def part(self, part: Part) -> dict[str, Any]:
        """One part: its question with a grid to fill in, and its runs with the answers."""
        asked = [field for field in self.fields if field.part == part.name]
        gridded = [field for field in asked if field.policy and field.request]
        columns = list(dict.fromkeys(field.run for field in gridded))
        runs = runs_of_part(self.exercise, part.name)
        own = [name for name in runs if self.exercise.run(name).part == part.name]
        return {
            "title": self.words(f"part.{part.name}.title"),
            "ask": self.words(f"part.{part.name}.ask"),
            "columns": [self._column(run, gridded) for run in columns],
            "rows": self._grid(gridded),
            "single": [self._single(field) for field in asked if field not in gridded],
            "time": self._time(runs[0]),
            "runs": [self._run(name) for name in own],
            "comparison": self._comparison(own, part) if len(own) > 1 else None,
            "answers": self._answers(asked) if self.plain else None,
            "point": self.case.points[part.name],
        }

    @property
    def plain(self) -> bool:
        """Whether the exercise is about a single idea: no page maps, no weight formats, no sheets."""
        return not self.exercise.layouts

    def _answers(self, asked: list[Field]) -> Markup:
        """Every field with its value and how it comes about."""
        keys = {field.key for field in asked}
        items = tuple(item for item in self.case.verdict({}).items if item.key in keys)
        return answers_table(items, self.language, self.words)

    def _column(self, run: str, gridded: list[Field]) -> dict[str, Any]:
        """A run of the grid with its metrics."""
        metrics = dict.fromkeys(field.metric for field in gridded if field.run == run)
        names = [
            {"name": self.words(f"short.{one}"), "unit": unit_name(MEASURES[one].unit, self.words)}
            for one in metrics
        ]
        return {"run": run_name(run, self.words), "metrics": names}

    def _grid(self, gridded: list[Field]) -> list[dict[str, Any]]:
        rows = [
            row | {"asked": [field.required for field in gridded if field.request == row["id"]]}
            for row in trace_rows(self.exercise)
        ]
        return [row for row in rows if row["asked"]]

    def _single(self, field: Field) -> dict[str, Any]:
        choices = [run_name(name, self.words) for name in field.choices or ()]
        label = field.label(self.words)
        if choices:
            label = self.words("sheet.choice", label=label, choices=" / ".join(choices))
        return {"label": label, "unit": unit_name(field.unit, self.words), "asked": field.required}

    def sheets(self) -> list[dict[str, Any]]:
        """Empty timelines to draw on. All are equally long: the length of a run is part of the answer."""
        runs = list(dict.fromkeys(field.run for field in self.fields if field.policy and field.request))
        ticks = max(len(self.histories[name].records) for name in runs) + SPARE
        return [{"title": title(name, self.words), "ticks": ticks} for name in runs]

    # ---- answers ---------------------------------------------------------------------------------

    def _run(self, name: str) -> dict[str, Any]:
        history = self.histories[name]
        caption = self.words("table.requests", run=run_name(name, self.words))
        return {
            "title": title(name, self.words),
            "timeline": timeline_table(timeline(history, name, self.words), self.language, captioned=False),
            "requests": requests_table(history, caption, self.language),
            "story": self._story(history, name),
        }

    def _story(self, history: History, name: str) -> Markup | None:
        """The run in words, unless it has so many requests that nobody would read it."""
        if len(history.requests) > TOLD:
            return None
        return story_table(story(history, name, self.words), self.language)

    def _time(self, run: str) -> str:
        return self.words("answers.time", tick=number(self.histories[run].service.tick, 1))

    def _comparison(self, runs: Sequence[str], part: Part) -> Markup:
        """The runs side by side; after the first part its caption says which part it is about."""
        limits = self.exercise.limits
        chosen = {name: self.histories[name] for name in runs}
        table = table_of(chosen, limits.ttft, limits.tpot, self.words)
        if part != self.exercise.parts[0]:
            heading = self.words(f"part.{part.name}.title")
            caption = self.words("log.line", id=heading, sentence=table.caption)
            table = msgspec.structs.replace(table, caption=caption)
        return metrics_table(table, self.language)

    def kv(self) -> dict[str, Any] | None:
        """The page counts and the maps of the runs that differ in layout."""
        if not self.exercise.layouts:
            return None
        chosen = {name: self.histories[name] for name in self.exercise.layouts}
        reserve = next(field for field in self.fields if field.metric == "kv_mb")
        maps = [page_map(history, name, self.words) for name, history in chosen.items()]
        return {
            "reserve": derivation(reserve, in_ledger(self.exercise), self.words),
            "counts": page_counts_table(page_counts(chosen, self.words), self.language),
            "maps": [pages_table(one, self.language) for one in maps],
        }


def weights_context(language: str, recorded: Recorded | None) -> dict[str, Any]:
    """The page of the recorded weight formats."""
    tables = [] if recorded is None else quantization_tables(recorded, language)
    return {"quantization": quantization(language, recorded), "tables": tables}


def quantization(language: str, recorded: Recorded | None) -> Markup:
    """The recorded figures, or the plain statement that there are none."""
    if recorded is None:
        return Markup("<p>{}</p>").format(puzzle_words(language)("quantization.missing"))
    return quantization_table(recorded, language)
