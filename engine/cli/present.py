"""What a command prints of a run: JSON, or a report for readers."""

from __future__ import annotations

import argparse

from engine.cli.document import document
from engine.cli.flags import seconds_or_none
from engine.cli.report import report
from engine.cli.shown import Limits, Shown
from engine.records import to_json
from engine.words import engine_words


def limits_of(options: argparse.Namespace) -> Limits:
    """The limits that were given."""
    return {name: seconds_or_none(options, name) for name in ("slo_ttft", "slo_tpot")}


def present(shown: Shown, options: argparse.Namespace) -> str:
    """The whole output. ``--summary`` is the JSON without its ticks."""
    if options.json or options.summary:
        return to_json(document(shown, ticks=not options.summary)).decode() + "\n"
    return report(shown, engine_words(options.lang))
