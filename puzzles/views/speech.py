"""What a request has said: bytes, and the text they make so far."""

from __future__ import annotations

import codecs
from collections.abc import Iterable

from engine import Request
from engine.requests import prompt_bytes
from puzzles.views.model import Speech

PLACEHOLDER = "·"  # a token of the ledger: it is counted, nobody knows its text
KEPT = "\n\t"


class Speaker:
    """Collects the tokens of one request.

    A token is a byte, so a character may be half said: it is held back until it is whole, and one that
    the prompt began is completed. Only bytes that are no UTF-8 at all show as a replacement sign.
    """

    def __init__(self, request: Request) -> None:
        self.id = request.id
        self._data: list[int] = []
        self._text: list[str] = []
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._decoder.decode(bytes(prompt_bytes(request.prompt or "")))

    def hear(self, tokens: Iterable[int | None]) -> None:
        """Take the tokens of one tick."""
        for token in tokens:
            if token is None:
                self._text.append(PLACEHOLDER)
            else:
                self._data.append(token)
                self._text.append(visible(self._decoder.decode(bytes([token]))))

    def said(self) -> Speech:
        """Text and bytes so far."""
        return Speech(self.id, "".join(self._text), tuple(self._data))


def visible(text: str) -> str:
    """Control characters as their pictures, so that every text can be shown and is valid in HTML."""
    return "".join(_picture(char) for char in text)


def _picture(char: str) -> str:
    code = ord(char)
    if code < 0x20 and char not in KEPT:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else "\N{REPLACEMENT CHARACTER}" if 0x80 <= code < 0xA0 else char
