"""The command line: what is asked, the server it is asked of, the figures on paper and in a file."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import msgspec

from app.bench.browser import NoBrowser
from app.bench.figures import Figures
from app.bench.measuring import Measuring
from app.bench.options import OptionError, Options, bench_words, read_options
from app.bench.paper import report
from app.bench.process import Running, ServerFailed, own_server
from engine.words import Catalogue


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print. 1: there were errors; 2: a wrong argument, or nothing to measure with."""
    words = bench_words(os.environ)
    try:
        options = read_options(arguments, words)
        _check_file(options.json, words)
        figures = _measured(options)
    except (OptionError, ServerFailed, NoBrowser) as error:
        print(words("wrong", reason=_reason(error, words)), file=sys.stderr)
        return 2
    print(report(figures, words))
    if options.json:
        Path(options.json).write_bytes(msgspec.json.format(msgspec.json.encode(figures)) + b"\n")
    return 1 if figures.errors else 0


def _reason(error: Exception, words: Catalogue) -> str:
    if isinstance(error, NoBrowser):
        return words("wrong.browser", missing=error)
    return words("wrong.server", said=error) if isinstance(error, ServerFailed) else str(error)


def _check_file(name: str, words: Catalogue) -> None:
    """Before anything is measured: an hour of figures must not be lost to a folder that is not there."""
    try:
        if name:
            Path(name).touch()
    except OSError as error:
        raise OptionError(words("wrong.file", file=name, reason=error.strerror)) from error


def _measured(options: Options) -> Figures:
    with _server(options) as server:
        measuring = Measuring(options, server)
        asyncio.run(measuring.run())
        return measuring.figures


def _server(options: Options) -> AbstractContextManager[Running]:
    if options.url:
        return nullcontext(Running(options.page, options.code))
    return own_server(options.way)
