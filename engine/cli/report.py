"""A run for readers: the settings, a row per request, the summary, the timeline."""

from __future__ import annotations

from engine.cli.figures import number, setting_text
from engine.cli.said import said_lines
from engine.cli.shown import Shown
from engine.cli.summary import summary
from engine.cli.table import printable, table
from engine.cli.timeline import timeline
from engine.files.trace_files import TraceFile
from engine.measuring.metrics import RequestMetrics
from engine.scheduling.explain import sentence
from engine.service import SETTINGS, Service
from engine.words import Catalogue

MOST_ROWS = 60
ALWAYS = ("policy", "tick", "prefill_budget", "decode_slots", "pages", "page_size")
PLAIN = ("id", "arrival", "prompt", "output", "status", "queue", "ttft", "tpot", "e2e")


def report(shown: Shown, words: Catalogue) -> str:
    """Everything, ending with a newline."""
    parts = [
        "\n".join(_head(shown.trace, shown.service, words)),
        _requests(shown, words),
        summary(shown, words),
        timeline(shown.history, words),
        said_lines(shown.history, MOST_ROWS, words),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _head(trace: TraceFile, service: Service, words: Catalogue) -> list[str]:
    plain = Service()
    shown = [n for n in SETTINGS if n in ALWAYS or getattr(service, n) != getattr(plain, n)]
    settings = ", ".join(f"{name} {setting_text(getattr(service, name))}" for name in shown)
    title = words("cli.trace", name=printable(trace.name), format=trace.format, count=len(trace.requests))
    return [title, settings, *(words(f"note.{note.code}", **note.values) for note in trace.notes)]


# ---- requests ------------------------------------------------------------------------------------


def _requests(shown: Shown, words: Catalogue) -> str:
    found = list(shown.metrics.requests.values())[:MOST_ROWS]
    reasons = {key: sentence(reason, words) for key, reason in shown.refused.items()}
    preempted = any(request.preempted for request in found)
    names = [*PLAIN, *("preempted", "recomputed") * preempted, *("reason",) * bool(reasons)]
    header = [words(f"cli.column.{name}") for name in names]
    cells = [_cells(request, reasons, words) for request in found]
    text = table([header, *([row[name] for name in names] for row in cells)], _align(names))
    left = len(shown.metrics.requests) - len(found)
    return text + ("\n" + words("cli.more_requests", count=left) if left else "")


def _align(names: list[str]) -> str:
    return "".join("l" if name in ("id", "status", "reason") else "r" for name in names)


def _cells(request: RequestMetrics, reasons: dict[str, str], words: Catalogue) -> dict[str, str]:
    return {
        "id": request.id,
        "arrival": number(request.arrival),
        "prompt": str(request.prompt_tokens),
        "output": str(request.output_tokens),
        "status": words(f"status.{request.status}"),
        **{name: number(getattr(request, name)) for name in ("queue", "ttft", "tpot", "e2e")},
        "preempted": str(request.preempted),
        "recomputed": str(request.recomputed_tokens),
        "reason": reasons.get(request.id, ""),
    }
