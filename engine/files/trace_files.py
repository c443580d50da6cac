"""Traces by name: R01-R04, or a file of the lab's own columns or of a public trace.

What is done with a row that cannot be served:

- In the lab's own form every row must be right; the first that is not is an error.
- In a public trace a row of 0 prompt or 0 output tokens is a call that failed when the trace was taken.
  It is left out and counted in a note. Everything else (a missing or broken value, a negative length)
  is an error as well: half-read numbers are worse than none.

Errors are one sentence with the file, the row, the column and what would be right.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Context, Decimal
from itertools import pairwise
from os import PathLike, fspath
from typing import Any

from engine.errors import InputError, Where
from engine.exact import seconds
from engine.files.trace_formats import SECONDS, Format, folded, format_of, unknown
from engine.files.trace_text import Row, read_rows, rows_of, short
from engine.requests import MOST, Request, check_trace
from engine.traces import MAIN_NAME, main_trace
from engine.words import Phrase

WIDE = Context(prec=60)  # exact for any moment a file can hold
CLOCK = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(\.\d+)?\s*(Z|[+-]\d\d(?::?\d\d)?)?", re.IGNORECASE)
EPOCHS = ((Decimal("1e17"), "ns"), (Decimal("1e14"), "us"), (Decimal("1e11"), "ms"), (Decimal("1e9"), "s"))


@dataclass(frozen=True)
class Note:
    """Something the reader was told about a trace: ``note.<code>`` of the catalogue, and its blanks."""

    code: str
    values: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class TraceFile:
    """A trace as read: its name, the kind of file, its requests, and what was done to them."""

    name: str
    format: str
    requests: list[Request]
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True)
class Moment:
    """An arrival as written, as a number, and whether it is a date and time (then seconds since 1970)."""

    text: str
    number: Decimal
    clock: bool


def load_trace(place: str | PathLike[str]) -> TraceFile:
    """The trace called R01-R04, or that of a CSV, JSON or JSONL file. Raises InputError.

    A file has the columns arrival (s), prompt_tokens, output_tokens and perhaps id, prompt, priority,
    or those of a public trace (``trace_formats.FORMATS``).
    """
    name = fspath(place)
    if name.replace("–", "-").upper() == MAIN_NAME:
        return TraceFile(MAIN_NAME, "Tick Lab", main_trace())
    return _trace_of(read_rows(name), name)


def parse_trace(text: str, name: str) -> TraceFile:
    """The trace that ``text`` holds, as that of a file called ``name``. Raises InputError."""
    return _trace_of(rows_of(text, name), name)


def _trace_of(rows: list[Row], name: str) -> TraceFile:
    form = format_of(rows[0].columns)
    if form is None:
        raise unknown(rows[0].columns, name)
    kept, notes = _usable(rows, form, name)
    moments = [_moment(row, form, name) for row in kept]
    arrivals, moved = _arrivals(moments, form, name)
    requests = [_request(row, arrival, form, name) for row, arrival in zip(kept, arrivals, strict=True)]
    _check_ids(requests, kept, name)
    return TraceFile(name, form.name, check_trace(requests), (*moved, *_disorder(arrivals), *notes))


# ---- rows --------------------------------------------------------------------------------------


def _cell(row: Row, column: str | None, name: str) -> Where:
    """Where a cell stands."""
    return (name, row.where, Phrase("place.column", column=column))


def _value(row: Row, column: str, name: str) -> Any:
    value = row.values.get(folded(column))
    if value is None or value == "":
        raise InputError.of("no_value", at=(name, row.where), column=column)
    return value


def _tokens(row: Row, column: str, name: str) -> int:
    """A length in tokens: a whole number, also when written as 18.0 or as text."""
    value = _value(row, column, name)
    try:
        number = _whole(value)
        if number < 0:
            raise ValueError
    except (ArithmeticError, ValueError):
        where = _cell(row, column, name)
        raise InputError.of("not_tokens", at=where, value=short(value)) from None
    return number


def _whole(value: object) -> int:
    """A whole number, also when written as 18.0 or as text. Raises ValueError or ArithmeticError."""
    number = Decimal(str(value))
    if isinstance(value, bool) or not abs(number) <= MOST or number != int(number):
        raise ValueError
    return int(number)


def _optional(row: Row, column: str | None) -> Any:
    """The value of a column that need not be there; None when it is not, or is empty."""
    value = None if column is None else row.values.get(folded(column))
    return None if value == "" else value


def _priority(row: Row, form: Format, name: str) -> int:
    value = _optional(row, form.priority)
    try:
        return 0 if value is None else _whole(value)
    except (ArithmeticError, ValueError):
        where = _cell(row, form.priority, name)
        raise InputError.of("not_an_integer", at=where, value=short(value)) from None


def _usable(rows: list[Row], form: Format, name: str) -> tuple[list[Row], list[Note]]:
    """The rows with tokens in and out, and a note on those without (an error in the lab's own form)."""
    kept = []
    for row in rows:
        empty = [c for c in (form.prompt, form.output) if _tokens(row, c, name) == 0]
        if empty and form.own:
            raise InputError.of("zero_tokens", at=_cell(row, empty[0], name))
        if not empty:
            kept.append(row)
    if not kept:
        raise InputError.of("only_zero_tokens", at=name)
    left_out = len(rows) - len(kept)
    return kept, [Note("zero_tokens", {"count": left_out})] if left_out else []


def _request(row: Row, arrival: Decimal, form: Format, name: str) -> Request:
    given = _optional(row, form.id)
    key = row.id if given is None else str(given)
    text = _optional(row, form.text)
    prompt = tuple(text) if isinstance(text, list) else text
    lengths = (_tokens(row, form.prompt, name), _tokens(row, form.output, name))
    priority = _priority(row, form, name)
    if isinstance(given, bool | list | dict):
        raise InputError.of("not_a_name", at=_cell(row, form.id, name), value=short(given))
    try:
        return Request(key, arrival, *lengths, prompt, priority)
    except InputError as error:
        raise error.at(name, row.where) from None


def _check_ids(requests: list[Request], rows: list[Row], name: str) -> None:
    seen: dict[str, Row] = {}
    for request, row in zip(requests, rows, strict=True):
        if request.id in seen:
            first = seen[request.id].where
            raise InputError.of("id_also_in", at=(name, row.where), id=repr(request.id), place=first)
        seen[request.id] = row


# ---- times -------------------------------------------------------------------------------------


def _moment(row: Row, form: Format, name: str) -> Moment:
    value = _value(row, form.arrival, name)
    text = str(value).strip()
    where = _cell(row, form.arrival, name)
    clock = CLOCK.fullmatch(text)
    if clock is not None:
        return Moment(text, _since_1970(clock, where), True)
    number = seconds(text, where)
    if number < 0:
        raise InputError.of("negative_arrival", at=where, value=text)
    return Moment(text, number, False)


def _since_1970(clock: re.Match[str], where: Where) -> Decimal:
    """Exact seconds of a date and time; without a zone it is taken as UTC."""
    date, time, fraction, zone = clock.groups()
    try:
        moment = datetime.fromisoformat(f"{date}T{time}{(zone or '').upper()}")
    except ValueError:
        raise InputError.of("no_moment", at=where, value=repr(clock[0])) from None
    whole = int(moment.replace(tzinfo=moment.tzinfo or UTC).timestamp())
    return WIDE.add(Decimal(whole), Decimal(fraction or 0))


def _arrivals(moments: list[Moment], form: Format, name: str) -> tuple[list[Decimal], list[Note]]:
    """Arrivals in seconds, and a note when they were moved to the first arrival."""
    first = min(moments, key=lambda moment: moment.number)
    _check_kind(moments, first, (name, Phrase("place.column", column=form.arrival)))
    unit, moved = _reading(first, form)
    origin = first.number if moved else Decimal(0)
    arrivals = [WIDE.subtract(m.number, origin).scaleb(SECONDS[unit], WIDE) for m in moments]
    if moved is None or not origin:
        return arrivals, []
    return arrivals, [
        Note(moved, {"first": first.text} if first.clock else {"first": first.text, "unit": unit})
    ]


def _check_kind(moments: list[Moment], first: Moment, where: Where) -> None:
    """Raise InputError unless all are numbers or all are dates and times, as ``first`` is."""
    other = next((moment for moment in moments if moment.clock != first.clock), None)
    if other is not None:
        raise InputError.of("two_kinds", at=where, first=first.text, other=other.text)


def _reading(first: Moment, form: Format) -> tuple[str, str | None]:
    """The unit of the numbers, and the note to make of it when they are counted from the first arrival;
    no note: they are seconds from the start of the run already."""
    if first.clock:
        return "s", "moved_clock"
    epoch = None if form.fixed else _epoch_unit(first.number)
    if epoch:
        return epoch, "moved_epoch"
    return form.unit, None if form.own else "moved"


def _epoch_unit(first: Decimal) -> str | None:
    """The unit in which a time counted from 1970 must be given to be of our days, None for a small one."""
    return next((unit for least, unit in EPOCHS if first >= least), None)


def _disorder(arrivals: list[Decimal]) -> list[Note]:
    """A note on rows that arrive before the row above them."""
    earlier = sum(b < a for a, b in pairwise(arrivals))
    return [Note("disorder", {"count": earlier})] if earlier else []
