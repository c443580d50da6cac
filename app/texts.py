"""Texts that strangers type: cut to a length, without characters that no store and no line can take."""

from __future__ import annotations

import re

# NUL and other controls end or split what they stand in, halves of a pair cannot be written, and the
# signs that force a direction turn what stands around them too. Marks (U+200E, U+200F) may stay.
UNFIT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff]"
)


def tidy(text: str, longest: int) -> str:
    """``text`` as one line of at most ``longest`` characters. Still to be escaped wherever it is shown."""
    fit = UNFIT.sub("", text[: 4 * longest])
    return re.sub(r"[\t\r\n\x85\u2028\u2029]+", " ", fit)[:longest]
