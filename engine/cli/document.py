"""The JSON object of a run. Its keys are fixed; more may be added."""

from __future__ import annotations

from typing import Any

import msgspec

from engine.cli.said import said
from engine.cli.shown import Shown


def document(shown: Shown, *, ticks: bool) -> dict[str, Any]:
    """``service``, ``requests``, ``summary``, when asked for ``ticks``; and the trace and the limits."""
    trace = shown.trace
    found: dict[str, Any] = {
        "trace": {"name": trace.name, "format": trace.format, "notes": [_note(n) for n in trace.notes]},
        "service": shown.service,
        "horizon": None if shown.horizon is None else float(shown.horizon),
        **{name: None if limit is None else float(limit) for name, limit in shown.limits.items()},
        "requests": _requests(shown),
        "summary": shown.metrics.summary,
    }
    if ticks and shown.history is not None:
        found["ticks"] = shown.history.records
    return found


def _note(note: Any) -> dict[str, Any]:
    return {"code": note.code, **note.values}


def _requests(shown: Shown) -> list[dict[str, Any]]:
    texts = said(shown.history)
    found = []
    for key, request in shown.metrics.requests.items():
        row = msgspec.structs.asdict(request)
        if key in shown.refused:
            row["reason"] = shown.refused[key]
        if key in texts:
            row["text"] = texts[key]
        found.append(row)
    return found
