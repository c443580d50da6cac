"""What a command prints of a run: JSON, or a report for readers."""

from __future__ import annotations

import argparse
from pathlib import Path

from engine.cli.document import document
from engine.cli.flags import seconds_or_none
from engine.cli.report import report
from engine.cli.shown import Limits, Shown
from engine.errors import InputError
from engine.files.chrome_trace import chrome_trace
from engine.records import to_json
from engine.words import engine_words


def limits_of(options: argparse.Namespace) -> Limits:
    """The limits that were given."""
    return {name: seconds_or_none(options, name) for name in ("slo_ttft", "slo_tpot")}


def present(shown: Shown, options: argparse.Namespace) -> str:
    """The whole output; ``--summary`` is JSON without ticks. Writes the file of ``--chrome-trace``."""
    if options.chrome_trace is not None:
        _write_chrome_trace(shown, options)
    if options.json or options.summary:
        return to_json(document(shown, ticks=not options.summary)).decode() + "\n"
    return report(shown, engine_words(options.lang))


def _write_chrome_trace(shown: Shown, options: argparse.Namespace) -> None:
    assert shown.history is not None
    made = chrome_trace({shown.service.policy: shown.history}, engine_words(options.lang))
    try:
        Path(options.chrome_trace).write_bytes(made)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        path = options.chrome_trace
        raise InputError.of("not_written", at="--chrome-trace", path=path, reason=reason) from None
