"""Where an output ends before its length: stop strings and the end-of-text token, and the text until then.

A token is a byte, so stop strings are matched as bytes and may lie across any number of tokens.
The match that completes first wins; of those that complete with the same byte, the longest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine.errors import InputError
from engine.model.tokens import TextStream
from engine.requests import utf8

END_OF_TEXT = 0  # the NUL byte; texts never hold it


def stop_bytes(stop: str | Sequence[str]) -> tuple[bytes, ...]:
    """Stop strings as bytes, longest first. Raises InputError for an empty one, and what is no text."""
    texts = (stop,) if isinstance(stop, str) else tuple(stop) if isinstance(stop, Iterable) else (stop,)
    if not all(isinstance(text, str) and text for text in texts):
        raise InputError.of("no_stops", at="stop", value=repr(stop))
    return tuple(sorted((utf8(text, "stop") for text in texts), key=len, reverse=True))


class Ending:
    """Follows the output of one request, byte by byte: when it ends, and which text may be shown.

    A text that may become a stop is held back until it is one (and dropped) or is not (and shown),
    and so is a character whose last byte is not there yet.
    """

    def __init__(self, stops: tuple[bytes, ...] = (), *, ignore_eos: bool = True) -> None:
        self._stops = stops
        self._ignore_eos = ignore_eos
        self._held = b""
        self._stream = TextStream()

    def push(self, token: int) -> tuple[str, bool]:
        """The text that ``token`` lets out, and whether the output ends with it."""
        if token == END_OF_TEXT and not self._ignore_eos:
            return self.flush(), True
        self._held += bytes((token,))
        for stop in self._stops:
            if self._held.endswith(stop):
                self._held = self._held[: -len(stop)]
                return self.flush(), True
        keep = self._may_become_a_stop()
        shown, self._held = self._held[: len(self._held) - keep], self._held[len(self._held) - keep :]
        return self._stream.push(*shown), False

    def flush(self) -> str:
        """What is held back, at the end; an unfinished character becomes one U+FFFD."""
        shown, self._held = self._held, b""
        return self._stream.push(*shown) + self._stream.flush()

    def _may_become_a_stop(self) -> int:
        """Length of the longest end of the held text with which some stop begins."""
        longest = max(map(len, self._stops), default=1) - 1
        lengths = range(min(longest, len(self._held)), 0, -1)
        return next((n for n in lengths if any(s.startswith(self._held[-n:]) for s in self._stops)), 0)
