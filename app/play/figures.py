"""Runs as the page shows them: views as JSON for the components, tables as HTML. All text is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from markupsafe import Markup
from msgspec.structs import replace

from app.pages.template import template
from app.play.experiment import Experiment
from app.play.running import MOST_RECORDS, Outcome
from app.play.sheet import MOST_DRAWN
from app.play.spec import Figures
from app.play.words import play_page_words
from engine import History, Request
from engine.cli.figures import number
from engine.scheduling.explain import sentence
from engine.words import engine_words
from puzzles.comparison import summaries_table
from puzzles.play import Side, differences, play_words
from puzzles.render import metrics_table
from puzzles.views.common import PALETTE, colours
from puzzles.views.logs import log
from puzzles.views.model import PageMap, RunView
from puzzles.views.page_maps import page_map
from puzzles.views.run_views import done
from puzzles.views.strips import strip
from puzzles.views.timelines import timeline
from puzzles.words import puzzle_words

MOST_PIECES = 60_000  # pages × ticks of a picture of the pool
SHOWN_ROWS = 8  # of a trace that was only looked at
FIGURES = ("queue", "ttft", "tpot", "e2e")


def figures(outcomes: Sequence[Outcome], experiment: Experiment, language: str) -> Figures:
    """Everything the page shows of the runs."""
    drawn = {one.plan.name: _part(one) for one in outcomes if one.drawn}
    views = [run_view(one, drawn[one.plan.name], language) for one in outcomes if one.drawn]
    ticks = [float(one.plan.service.tick) for one in outcomes]
    return Figures(
        runs=_json(views),
        known=max((len(part.records) for part in drawn.values()), default=0),
        tick_seconds=ticks[0],
        html=_summary(outcomes, experiment, language),
        details=_requests(outcomes, language),
        page=_page(outcomes, views, ticks),
    )


def _json(views: Sequence[RunView]) -> str:
    """The runs as the component that hands them round takes them: all of it."""
    return msgspec.json.encode({"since": 0, "runs": views}).decode()


def _part(outcome: Outcome) -> History:
    """The ticks that are drawn."""
    whole = outcome.history
    return History(whole.service, whole.requests, whole.records[: outcome.drawn])


def _page(outcomes: Sequence[Outcome], views: Sequence[RunView], ticks: Sequence[float]) -> dict[str, Any]:
    """What the components are told: who stands on which axis, titles, prompts."""
    names = [one.plan.name for one in outcomes if one.drawn]
    beside = [one.plan.name for one, tick in zip(outcomes, ticks, strict=True) if tick == ticks[0]]
    spoken = any(record.work for one in outcomes for record in one.records)
    return {
        "names": [name for name in names if name in beside],
        "other": [name for name in names if name not in beside],
        "pools": [view.pages.name for view in views if view.pages.frames],
        "titles": {one.plan.name: one.plan.title for one in outcomes},
        "spoken": names if spoken else [],
        "prompts": {r.id: r.prompt for r in outcomes[0].plan.requests if isinstance(r.prompt, str)},
    }


def run_view(outcome: Outcome, history: History, language: str) -> RunView:
    """The run under its own title; a pool too large to be drawn has no frames."""
    words, name, title = puzzle_words(language), outcome.plan.name, outcome.plan.title
    pool = page_map(history, name, words) if _pieces(history) <= MOST_PIECES else _no_map(history, name)
    return RunView(
        timeline=replace(timeline(history, name, words), title=title),
        strip=replace(strip(history, name, words), title=title),
        pages=replace(pool, title=title),
        log=replace(log(history, name, words), title=title),
        done=done(history),
    )


def _pieces(history: History) -> int:
    """How many pages (slots) a picture of the pool would hold, over all ticks."""
    service = history.service
    size = service.pages if service.kv_layout == "paged" else service.slots
    if size is not None:
        return len(history.records) * size
    return sum(len(table) for record in history.records for table in record.pages.values())


def _no_map(history: History, name: str) -> PageMap:
    return PageMap(name, name, "paged", history.service.page_size, colours(history), ())


# ---- tables ---------------------------------------------------------------------------------------------


def seen(experiment: Experiment, language: str) -> str:
    """The first rows of a trace, and what was done to it."""
    trace = experiment.runs[-1].trace
    rows = [_row(request, place) for place, request in enumerate(trace.requests[:SHOWN_ROWS])]
    return _fill(
        "play_trace.html.j2",
        language,
        name=trace.name,
        format=trace.format,
        rows=rows,
        count=len(trace.requests),
        notes=_notes(experiment, language),
    )


def _row(request: Request, place: int) -> dict[str, Any]:
    prompt = request.prompt if isinstance(request.prompt, str) else None
    lengths = (request.prompt_tokens, request.output_tokens)
    return {
        "id": request.id,
        "colour": place % PALETTE,
        "arrival": number(float(request.arrival)),
        "lengths": lengths,
        "prompt": prompt,
    }


def _summary(outcomes: Sequence[Outcome], experiment: Experiment, language: str) -> str:
    """Runs × metrics, what was noted, and for two runs what differs."""
    words = puzzle_words(language)
    summaries = {one.plan.title: (one.metrics.summary, one.plan.service) for one in outcomes}
    table = summaries_table(summaries, experiment.slo_ttft, experiment.slo_tpot, words)
    return _fill(
        "play_summary.html.j2",
        language,
        table=metrics_table(table, language),
        notes=[*_notes(experiment, language), *_remarks(outcomes, language)],
        pair=[one.plan.title for one in outcomes] if len(outcomes) == 2 else None,
        diff=_differences(outcomes, language) if len(outcomes) == 2 else None,
        summary_name=_summary_name(language),
    )


def _notes(experiment: Experiment, language: str) -> list[str]:
    words = engine_words(language)
    return [words(f"note.{note.code}", **note.values) for note in experiment.notes]


def _remarks(outcomes: Sequence[Outcome], language: str) -> list[str]:
    """What is not shown, and who was refused."""
    words, reasons = play_page_words(language), engine_words(language)
    said = []
    for one in outcomes:
        for key, reason in list(one.refused.items())[:SHOWN_ROWS]:
            said.append(words("remark.refused", run=one.plan.title, id=key, why=sentence(reason, reasons)))
    if any(not one.records for one in outcomes):
        said.append(words("remark.crowd", most=MOST_DRAWN))
    elif any(one.drawn < one.ticks for one in outcomes):
        said.append(words("remark.part", ticks=max(one.drawn for one in outcomes)))
    if any(one.records and not one.whole for one in outcomes):
        said.append(words("remark.long", ticks=MOST_RECORDS))
    return said


def _differences(outcomes: Sequence[Outcome], language: str) -> Any:
    a, b = (
        Side(
            one.plan.service,
            {request.id: request for request in one.plan.requests},
            one.metrics,
            one.records if one.whole else [],
        )
        for one in outcomes
    )
    return differences(a, b, play_words(language))


def _summary_name(language: str) -> Any:
    """How a figure of the summary is called: as the command line calls it."""
    words = engine_words(language)

    def name(key: str) -> str:
        row = f"cli.row.{key.removesuffix('_tokens')}"
        return words(row) if row in words else key

    return name


def _requests(outcomes: Sequence[Outcome], language: str) -> str:
    """A row per request, the four times of each run; for a crowd only the first."""
    first = outcomes[0].plan.requests[:MOST_DRAWN]
    keys = list(dict.fromkeys(r.id for one in outcomes for r in one.plan.requests[: len(first)]))
    rows = [
        {"id": key, "colour": place % PALETTE, "runs": [_times(one, key) for one in outcomes]}
        for place, key in enumerate(keys)
    ]
    left = max(len(one.plan.requests) for one in outcomes) - len(first)
    titles = [one.plan.title for one in outcomes]
    return _fill("play_requests.html.j2", language, rows=rows, titles=titles, figures=FIGURES, left=left)


def _times(outcome: Outcome, key: str) -> list[str]:
    found = outcome.metrics.requests.get(key)
    return ["—" if found is None else number(getattr(found, name)) for name in FIGURES]


def _fill(page: str, language: str, **values: Any) -> str:
    words = play_page_words(language)
    return str(Markup(template(page).render(say=words, **values)))
