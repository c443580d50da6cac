"""From a sheet to the runs it asks for, checked. Raises InputError where something cannot be."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal

import msgspec

from app.play.sheet import MOST_BYTES, MOST_ROWS, Setup, Sheet
from app.play.words import beyond
from engine import InputError, Request, Service
from engine.cli.flags import service_from
from engine.files.trace_files import Note, TraceFile, parse_trace
from engine.files.trace_formats import format_of
from engine.ledger import checked_horizon
from engine.measuring.slo import checked_limit
from engine.service import POLICIES
from engine.words import Catalogue
from puzzles.words import puzzle_words

MOST_TOKENS = {"prompt": 50_000_000, "output": 5_000_000}  # of one trace
TYPED = "trace"  # what a trace that came from no file is called


class NoData(Exception):
    """The trace holds no request: there is nothing to run, and nothing wrong."""


class RunPlan(msgspec.Struct, frozen=True):
    """One run: its name on the page, what it is called, who serves whom."""

    name: str
    title: str
    service: Service
    trace: TraceFile

    @property
    def requests(self) -> list[Request]:
        return self.trace.requests


class Experiment(msgspec.Struct, frozen=True):
    """The runs side by side, until ``horizon`` (s, None: to the end), under the limits of the SLO (s)."""

    runs: tuple[RunPlan, ...]
    horizon: Decimal | None
    slo_ttft: str | None
    slo_tpot: str | None

    @property
    def notes(self) -> list[Note]:
        """What was done to the traces, once each."""
        found: list[Note] = []
        for run in self.runs:
            found += [note for note in run.trace.notes if note not in found]
        return found


def experiment_of(sheet: Sheet, language: str) -> Experiment:
    """What ``sheet`` asks for. Raises InputError, and NoData for an empty trace."""
    words = puzzle_words(language)
    runs = _policies(sheet, words) if sheet.mode == "policies" else _sides(sheet)
    horizon = checked_horizon(sheet.horizon.strip() or None)
    limits = [_limit(name, getattr(sheet, name)) for name in ("slo_ttft", "slo_tpot")]
    return Experiment(tuple(runs), horizon, *limits)


def _limit(name: str, text: str) -> str | None:
    """A limit as it was typed; none typed is no limit."""
    if text.strip() in ("", "none"):
        return None
    checked_limit(text.strip(), name)
    return text.strip()


def _policies(sheet: Sheet, words: Catalogue) -> list[RunPlan]:
    """One trace under every policy."""
    trace, service = trace_of(sheet.setup), service_of(sheet.setup)
    return [
        RunPlan(policy, words(f"run.{policy}.short"), service.replace(policy=policy), trace)
        for policy in POLICIES
    ]


def _sides(sheet: Sheet) -> list[RunPlan]:
    """A, where it has been kept, and B."""
    if sheet.kept is None:
        return [_side("b", sheet.setup)]
    with _told_of("A"):
        kept = _side("a", sheet.kept)
    return [kept, _side("b", sheet.setup)]


def _side(name: str, setup: Setup) -> RunPlan:
    letter, title = name.upper(), setup.title.strip()
    return RunPlan(name, f"{letter} · {title}" if title else letter, service_of(setup), trace_of(setup))


@contextmanager
def _told_of(side: str) -> Iterator[None]:
    """Inside, an error says that it is about the run that was kept."""
    try:
        yield
    except InputError as error:
        raise error.at(side) from None


def service_of(setup: Setup) -> Service:
    """The service of the settings as typed; what is left empty is at its default."""
    return service_from({name: text.strip() for name, text in setup.settings.items() if text.strip()})


def trace_of(setup: Setup) -> TraceFile:
    """The trace, within what this page takes. Raises InputError and NoData."""
    name = setup.name.strip() or TYPED
    if _is_empty(setup.trace):
        raise NoData
    size = len(setup.trace.encode(errors="replace"))
    if size > MOST_BYTES:
        raise beyond("bytes", name, bytes=size, most=MOST_BYTES)
    trace = parse_trace(setup.trace, name)
    if len(trace.requests) > MOST_ROWS:
        raise beyond("rows", name, rows=len(trace.requests), most=MOST_ROWS)
    for kind, most in MOST_TOKENS.items():
        tokens = sum(getattr(request, f"{kind}_tokens") for request in trace.requests)
        if tokens > most:
            raise beyond(f"{kind}_tokens", name, tokens=tokens, most=most)
    return trace


def _is_empty(text: str) -> bool:
    """Whether there is nothing but, at most, the header of a known kind of file."""
    lines = [line for line in text.lstrip("\ufeff").splitlines() if line.strip()]
    if len(lines) != 1 or lines[0].lstrip()[0] in "{[":
        return not lines
    return format_of(lines[0].replace(";", ",").replace("\t", ",").split(",")) is not None
