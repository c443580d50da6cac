"""What a command prints of a run: JSON, or a report for readers."""

from __future__ import annotations

import argparse

from engine.cli.document import document
from engine.cli.flags import seconds_or_none
from engine.cli.report import report
from engine.history import History
from engine.records import to_json
from engine.trace_files import TraceFile
from engine.words import engine_words


def present(trace: TraceFile, history: History, options: argparse.Namespace) -> str:
    """The whole output. ``--summary`` is the JSON without its ticks."""
    limits = {name: seconds_or_none(options, name) for name in ("slo_ttft", "slo_tpot")}
    metrics = history.metrics(**limits)
    if options.json or options.summary:
        return to_json(document(trace, history, metrics, limits, ticks=not options.summary)).decode() + "\n"
    return report(trace, history, metrics, limits, engine_words(options.lang))
