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

from engine.complaints import complaint
from engine.errors import InputError
from engine.files.trace_formats import folded
from engine.words import Phrase, Text

UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
DELIMITERS = ",;\t"
SPACE = re.compile(r"\s*")


@dataclass(frozen=True)
class Row:
    """One row: which ``kind`` of place (row, line or item) of which number; values by folded column name."""

    kind: str
    number: int
    values: dict[str, Any]
    columns: tuple[str, ...]

    @property
    def where(self) -> Text:
        """Where it stands, such as “row 3”."""
        return Phrase(f"place.{self.kind}", number=self.number)

    @property
    def id(self) -> str:
        """What a request is called that has no name of its own."""
        return f"{self.kind}-{self.number}"


def read_rows(name: str) -> list[Row]:
    """The rows of the file ``name``. Raises InputError, one sentence, for anything that is not a table."""
    return rows_of(_decoded(_bytes(name), name), name)


def rows_of(text: str, name: str) -> list[Row]:
    """The rows of ``text``, as those of a file called ``name``. Raises InputError."""
    if not text.strip():
        raise InputError.of("empty_file", at=name)
    rows = list(_json_rows(text, name) if text.lstrip()[0] in "{[" else _csv_rows(text, name))
    if not rows:
        raise InputError.of("no_rows", at=name)
    return rows


def _bytes(name: str) -> bytes:
    try:
        return Path(name).read_bytes()
    except FileNotFoundError:
        raise InputError.of("no_such_file", at=name) from None
    except IsADirectoryError:
        raise InputError.of("directory", at=name) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError.of("unreadable", at=name, reason=reason) from None


def _decoded(data: bytes, name: str) -> str:
    """UTF-8 with or without a byte-order mark, or UTF-16 with one."""
    encoding = "utf-16" if data.startswith(UTF16) else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        byte = f"{data[error.start]:#04x}"
        raise InputError.of("not_utf8", at=name, place=error.start, byte=byte) from None
    if "\0" in text:
        raise InputError.of("binary", at=name)
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
            yield _csv_row(cells, header, line, name)
    except csv.Error as error:
        where = (name, Phrase("place.row", number=line + 1))
        raise InputError.of("not_csv", at=where, trouble=complaint(str(error))) from None


def _delimiter(text: str) -> str:
    """Comma, semicolon or tab: the one its first line has most of."""
    first = text.lstrip().partition("\n")[0]
    return max(DELIMITERS, key=first.count)


def _header(cells: list[str], name: str) -> list[str]:
    header = [cell.strip() for cell in cells]
    names = [folded(cell) for cell in header if cell]
    for column in header:
        if names.count(folded(column)) > 1:
            where = (name, Phrase("place.row", number=1))
            raise InputError.of("column_twice", at=where, column=repr(column))
    return header


def _csv_row(cells: list[str], header: list[str], line: int, name: str) -> Row:
    if len(cells) != len(header):
        where = (name, Phrase("place.row", number=line))
        raise InputError.of("other_cells", at=where, cells=len(cells), header=len(header))
    values = {folded(column): cell.strip() for column, cell in zip(header, cells, strict=True)}
    return Row("row", line, values, tuple(header))


# ---- JSON --------------------------------------------------------------------------------------


def _json_rows(text: str, name: str) -> Iterator[Row]:
    """A list of objects, an object with such a list as ``requests``, or one object after the other."""
    kind, found = "line", list(_json_values(text, name))
    listed = _listed(found)
    if listed is not None:
        kind, found = "item", list(enumerate(listed, 1))
    for number, value in found:
        where = (name, Phrase(f"place.{kind}", number=number))
        if not isinstance(value, dict):
            raise InputError.of("no_object", at=where, value=short(value))
        if len({folded(key) for key in value}) != len(value):
            raise InputError.of("names_of_one_column", at=where, names=short(list(value)))
        yield Row(kind, number, {folded(key): item for key, item in value.items()}, tuple(map(str, value)))


def _listed(found: list[tuple[int, Any]]) -> list[Any] | None:
    if len(found) != 1:
        return None
    value = found[0][1]
    if isinstance(value, dict) and isinstance(value.get("requests"), list):
        value = value["requests"]
    return value if isinstance(value, list) else None


def _json_values(text: str, name: str) -> Iterator[tuple[int, Any]]:
    """Every JSON value of the text with the line on which it begins; decimals stay exact."""
    decoder = json.JSONDecoder(parse_float=Decimal, parse_constant=Decimal)
    position, line, counted = _skip_space(text, 0), 1, 0
    while position < len(text):
        line += text.count("\n", counted, position)
        counted = position
        try:
            value, position = decoder.raw_decode(text, position)
        except json.JSONDecodeError as error:
            place = Phrase("place.character", line=error.lineno, column=error.colno)
            raise InputError.of("not_json", at=(name, place), trouble=complaint(error.msg)) from None
        except (ValueError, RecursionError):
            raise InputError.of("too_deep", at=(name, Phrase("place.line", number=line))) from None
        yield line, value
        position = _skip_space(text, position)


def _skip_space(text: str, position: int) -> int:
    found = SPACE.match(text, position)
    return found.end() if found else position


def short(value: object) -> str:
    """``value`` as a message quotes it: numbers as written, and no more than its beginning."""
    text = str(value) if isinstance(value, Decimal) else repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
