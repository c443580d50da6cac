"""The JSON object of a run. Its keys are fixed; more may be added."""

from __future__ import annotations

from typing import Any

import msgspec

from engine.cli.said import said
from engine.history import History
from engine.metrics import Metrics
from engine.progress import refusals
from engine.trace_files import TraceFile


def document(
    trace: TraceFile,
    history: History,
    metrics: Metrics,
    limits: dict[str, str | None],
    *,
    ticks: bool,
) -> dict[str, Any]:
    """``service``, ``requests``, ``summary``, when asked for ``ticks``; and the trace and the limits."""
    found: dict[str, Any] = {
        "trace": {"name": trace.name, "format": trace.format, "notes": [_note(n) for n in trace.notes]},
        "service": history.service,
        "horizon": None if history.horizon is None else float(history.horizon),
        **{name: None if limit is None else float(limit) for name, limit in limits.items()},
        "requests": _requests(history, metrics),
        "summary": metrics.summary,
    }
    if ticks:
        found["ticks"] = history.records
    return found


def _note(note: Any) -> dict[str, Any]:
    return {"code": note.code, **note.values}


def _requests(history: History, metrics: Metrics) -> list[dict[str, Any]]:
    refused, texts = refusals(history), said(history)
    found = []
    for key, request in metrics.requests.items():
        row = msgspec.structs.asdict(request)
        if key in refused:
            row["reason"] = refused[key]
        if key in texts:
            row["text"] = texts[key]
        found.append(row)
    return found
