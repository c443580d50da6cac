"""Byte-level tokens: a token is a byte, its number is the byte's value."""

from __future__ import annotations

import codecs
from collections.abc import Iterable


def encode(text: str | bytes) -> list[int]:
    """The tokens of `text`, one per byte of its UTF-8 form."""
    return list(text.encode("utf-8") if isinstance(text, str) else text)


def decode(tokens: Iterable[int]) -> str:
    """The text of `tokens`; bytes that are no UTF-8 become U+FFFD.

    Raises `ValueError` for a token that is not in 0 to 255.
    """
    return bytes(tokens).decode("utf-8", errors="replace")


class TextStream:
    """Turns tokens into text as they come and holds a character back until its last byte is there.

    The pieces joined, with `flush()` at the end, are `decode` of all tokens. A byte that can belong
    to no character is given out as U+FFFD at once and delays nothing.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def push(self, *tokens: int) -> str:
        """The text that is complete with `tokens`; empty while a character is incomplete."""
        return self._decoder.decode(bytes(tokens))

    def flush(self) -> str:
        """What is held back at the end: empty, or U+FFFD for an unfinished character."""
        text = self._decoder.decode(b"", final=True)
        self._decoder.reset()
        return text

    @property
    def pending(self) -> int:
        """Bytes that are held back, 0 to 3."""
        return len(self._decoder.getstate()[0])
