"""``python -m engine simulate``: a trace through the ledger, no torch."""

from __future__ import annotations

import argparse

from engine.cli.flags import add_common_flags, naming_flags, one_of, seconds_or_none, service_of, trace_of
from engine.cli.present import limits_of, present
from engine.cli.shown import MOST_RECORDS, Shown
from engine.cli.timeline import is_short
from engine.errors import InputError
from engine.skimming.skimmer import Skim, skim
from engine.words import LANGUAGES, Catalogue

NAME = "simulate"


def add_flags(parser: argparse.ArgumentParser, words: Catalogue) -> None:
    """The common flags are all it takes."""
    add_common_flags(parser, words)


def execute(options: argparse.Namespace) -> str:
    """What to print. Raises InputError and Stalled.

    The figures are skimmed; records are made only where they are printed or drawn.
    """
    one_of("lang", options.lang, LANGUAGES)
    service = service_of(options)
    trace = trace_of(options)
    limits = limits_of(options)
    with naming_flags():
        found = skim(trace.requests, service, seconds_or_none(options, "horizon"))
        metrics = found.metrics(**limits)
    history = found.history() if _needs_records(found, options) else None
    return present(Shown(trace, service, found.horizon, limits, metrics, found.refused, history), options)


def _needs_records(found: Skim, options: argparse.Namespace) -> bool:
    if options.chrome_trace is not None:
        _refuse_too_many("--chrome-trace", found.ticks, "too_many_to_draw")
        return True
    if options.summary:
        return False
    if not options.json:
        return is_short(found.ticks, len(found.lives))
    _refuse_too_many("--json", found.ticks, "too_many_to_print")
    return True


def _refuse_too_many(flag: str, ticks: int, code: str) -> None:
    if ticks > MOST_RECORDS:
        raise InputError.of(code, at=flag, ticks=ticks)
