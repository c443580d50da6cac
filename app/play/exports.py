"""Runs as files: CSV for a spreadsheet, JSON as the command line prints it, a trace for Perfetto."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence

from app.classroom.exports import harmless
from app.play.experiment import Experiment
from app.play.running import Outcome
from app.play.spec import Job, Made
from app.play.words import beyond
from engine.cli.document import document
from engine.cli.shown import Shown
from engine.files.chrome_trace import chrome_trace
from engine.records import to_json
from engine.words import engine_words

COLUMNS = (
    *("id", "arrival", "prompt_tokens", "output_tokens", "status"),
    *("queue", "ttft", "tpot", "e2e", "preempted", "recomputed_tokens"),
)
TYPES = {"csv": "text/csv", "json": "application/json", "chrome": "application/json"}
ENDINGS = {"csv": "csv", "json": "json", "chrome": "trace.json"}
LONGEST_NAME = 60


def made(kind: str, outcomes: Sequence[Outcome], experiment: Experiment, job: Job) -> Made:
    """The file of that kind. Raises InputError where a run is too long for it."""
    if kind == "csv":
        text = as_csv(outcomes)
    elif kind == "json":
        text = as_json(outcomes, experiment)
    else:
        text = as_chrome_trace(outcomes, job.language)
    stem = safe_name(job.sheet.setup.title or job.sheet.setup.name)
    return Made(f"{stem}.{ENDINGS[kind]}", TYPES[kind], text)


def safe_name(text: str) -> str:
    """``text`` as a file name that is safe everywhere: letters, digits, dots, hyphens."""
    name = re.sub(r"\.(csv|jsonl?|txt)$", "", text.strip(), flags=re.IGNORECASE)
    name = re.sub(r"[^\w.-]+", "-", name).strip("-._")[:LONGEST_NAME].rstrip("-._")
    return f"ticklab-{name}" if name else "ticklab"


def as_csv(outcomes: Sequence[Outcome]) -> str:
    """A row per run and request; a spreadsheet runs none of it."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["run", *COLUMNS])
    for one in outcomes:
        for request in one.metrics.requests.values():
            cells = [one.plan.title, *(getattr(request, name) for name in COLUMNS)]
            writer.writerow([harmless(cell) for cell in cells])
    return "\ufeff" + out.getvalue()


def as_json(outcomes: Sequence[Outcome], experiment: Experiment) -> str:
    """By run the object of ``python -m engine simulate --json``; without ticks where not all were kept."""
    limits = {"slo_ttft": experiment.slo_ttft, "slo_tpot": experiment.slo_tpot}
    found = {}
    for one in outcomes:
        history = one.history if one.whole else None
        shown = Shown(
            one.plan.trace, one.plan.service, experiment.horizon, limits, one.metrics, one.refused, history
        )
        found[one.plan.title] = document(shown, ticks=one.whole)
    return to_json({"runs": found}).decode()


def as_chrome_trace(outcomes: Sequence[Outcome], language: str) -> str:
    """Trace Event Format, a process per run."""
    if not all(one.whole for one in outcomes):
        raise beyond("long_run", "horizon")
    histories = {one.plan.title: one.history for one in outcomes}
    return chrome_trace(histories, engine_words(language)).decode()
