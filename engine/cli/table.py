"""Tables in fixed-width text. A Chinese character takes two columns of a terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

GAP = "  "


def width(text: str) -> int:
    """Columns of a terminal that ``text`` takes."""
    return sum(_columns(sign) for sign in text)


def _columns(sign: str) -> int:
    if unicodedata.combining(sign) or unicodedata.category(sign) in ("Cf", "Cc"):
        return 0
    return 2 if unicodedata.east_asian_width(sign) in "WF" else 1


def printable(text: str) -> str:
    """``text`` with its control characters written out: a name in a file must not steer a terminal."""
    return "".join(repr(sign)[1:-1] if unicodedata.category(sign) == "Cc" else sign for sign in text)


def pad(text: str, columns: int, *, right: bool = False) -> str:
    """``text`` filled with spaces to ``columns``; ``right`` puts them before it."""
    space = " " * (columns - width(text))
    return space + text if right else text + space


def table(rows: Sequence[Sequence[str]], align: str) -> str:
    """``rows`` (the first is the header) as lines; ``align`` has one l or r per column."""
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = [max(width(row[place]) for row in rows) for place in range(len(align))]
    lines = [_line(row, widths, align) for row in rows]
    lines.insert(1, GAP.join("-" * columns for columns in widths))
    return "\n".join(lines)


def _line(row: Sequence[str], widths: Sequence[int], align: str) -> str:
    cells = [pad(t, w, right=a == "r") for t, w, a in zip(row, widths, align, strict=True)]
    return GAP.join(cells).rstrip()
