"""From a file's bytes to its rows: encodings, CSV, JSON and JSON lines. Knows no formats."""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from engine.errors import InputError
from engine.files.trace_formats import folded

UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
DELIMITERS = ",;\t"
SPACE = re.compile(r"\s*")
EMPTY = "it is empty; a header and at least one row, or JSON objects, are needed"


@dataclass(frozen=True)
class Row:
    """One row: ``where`` it stands (such as “row 3”), its values by folded column name."""

    where: str
    values: dict[str, Any]
    columns: tuple[str, ...]


def read_rows(name: str) -> list[Row]:
    """The rows of the file ``name``. Raises InputError, one sentence, for anything that is not a table."""
    return rows_of(_decoded(_bytes(name), name), name)


def rows_of(text: str, name: str) -> list[Row]:
    """The rows of ``text``, as those of a file called ``name``. Raises InputError."""
    if not text.strip():
        raise InputError(f"{name}: {EMPTY}")
    rows = list(_json_rows(text, name) if text.lstrip()[0] in "{[" else _csv_rows(text, name))
    if not rows:
        raise InputError(f"{name}: it has no rows; at least one request is needed")
    return rows


def _bytes(name: str) -> bytes:
    try:
        return Path(name).read_bytes()
    except FileNotFoundError:
        raise InputError(f"{name}: no such file; give R01-R04 or a CSV, JSON or JSONL file") from None
    except IsADirectoryError:
        raise InputError(f"{name}: it is a directory; give a CSV, JSON or JSONL file") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{name}: it cannot be read ({reason}); give a readable file") from None


def _decoded(data: bytes, name: str) -> str:
    """UTF-8 with or without a byte-order mark, or UTF-16 with one."""
    encoding = "utf-16" if data.startswith(UTF16) else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name}: its encoding is not UTF-8 (byte {error.start} is {data[error.start]:#04x}); "
            "save it as UTF-8 text"
        ) from None
    if "\0" in text:
        raise InputError(f"{name}: it holds binary data; a text file (CSV, JSON or JSONL) is needed")
    return text


# ---- CSV -------------------------------------------------------------------------------------


def _csv_rows(text: str, name: str) -> Iterator[Row]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    header: list[str] = []
    line = 0
    try:
        for cells in reader:
            line += 1
            if not any(cell.strip() for cell in cells):
                continue
            if not header:
                header = _header(cells, name)
                continue
            yield _csv_row(cells, header, f"row {line}", name)
    except csv.Error as error:
        raise InputError(f"{name}: row {line + 1}: it is not CSV ({error})") from None


def _delimiter(text: str) -> str:
    """Comma, semicolon or tab: the one its first line has most of."""
    first = text.lstrip().partition("\n")[0]
    return max(DELIMITERS, key=first.count)


def _header(cells: list[str], name: str) -> list[str]:
    header = [cell.strip() for cell in cells]
    names = [folded(cell) for cell in header if cell]
    for column in header:
        if names.count(folded(column)) > 1:
            raise InputError(f"{name}: row 1: column {column!r} stands twice; every column must be its own")
    return header


def _csv_row(cells: list[str], header: list[str], where: str, name: str) -> Row:
    if len(cells) != len(header):
        raise InputError(
            f"{name}: {where}: it has {len(cells)} cells and the header has {len(header)}; they must agree"
        )
    values = {folded(column): cell.strip() for column, cell in zip(header, cells, strict=True)}
    return Row(where, values, tuple(header))


# ---- JSON --------------------------------------------------------------------------------------


def _json_rows(text: str, name: str) -> Iterator[Row]:
    """A list of objects, an object with such a list as ``requests``, or one object after the other."""
    found = list(_json_values(text, name))
    listed = _listed(found)
    if listed is not None:
        found = [(f"item {place}", value) for place, value in enumerate(listed, 1)]
    for where, value in found:
        if not isinstance(value, dict):
            raise InputError(f"{name}: {where}: {short(value)} is not an object with named values")
        if len({folded(key) for key in value}) != len(value):
            raise InputError(f"{name}: {where}: two of its names ({short(list(value))}) are one column")
        yield Row(where, {folded(key): item for key, item in value.items()}, tuple(map(str, value)))


def _listed(found: list[tuple[str, Any]]) -> list[Any] | None:
    if len(found) != 1:
        return None
    value = found[0][1]
    if isinstance(value, dict) and isinstance(value.get("requests"), list):
        value = value["requests"]
    return value if isinstance(value, list) else None


def _json_values(text: str, name: str) -> Iterator[tuple[str, Any]]:
    """Every JSON value of the text with the line on which it begins; decimals stay exact."""
    decoder = json.JSONDecoder(parse_float=Decimal, parse_constant=Decimal)
    position, line, counted = _skip_space(text, 0), 1, 0
    while position < len(text):
        line += text.count("\n", counted, position)
        counted = position
        try:
            value, position = decoder.raw_decode(text, position)
        except json.JSONDecodeError as error:
            place = f"line {error.lineno}, column {error.colno}"
            raise InputError(f"{name}: {place}: it is not JSON ({error.msg})") from None
        except (ValueError, RecursionError):
            trouble = "nested too deeply, or a number too long"
            raise InputError(f"{name}: line {line}: it is not JSON that can be read ({trouble})") from None
        yield f"line {line}", value
        position = _skip_space(text, position)


def _skip_space(text: str, position: int) -> int:
    found = SPACE.match(text, position)
    return found.end() if found else position


def short(value: object) -> str:
    """``value`` as a message quotes it: numbers as written, and no more than its beginning."""
    text = str(value) if isinstance(value, Decimal) else repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
