"""``python -m engine simulate``: a trace through the ledger, no torch."""

from __future__ import annotations

import argparse

import engine
from engine.cli.flags import add_common_flags, naming_flags, one_of, seconds_or_none, service_of, trace_of
from engine.cli.present import present
from engine.words import LANGUAGES, Catalogue

NAME = "simulate"


def add_flags(parser: argparse.ArgumentParser, words: Catalogue) -> None:
    """The common flags are all it takes."""
    add_common_flags(parser, words)


def execute(options: argparse.Namespace) -> str:
    """What to print. Raises InputError and Stalled."""
    one_of("lang", options.lang, LANGUAGES)
    service = service_of(options)
    trace = trace_of(options)
    with naming_flags():
        history = engine.simulate(trace.requests, service, seconds_or_none(options, "horizon"))
        return present(trace, history, options)
