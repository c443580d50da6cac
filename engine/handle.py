"""What a caller holds of a submitted request: its tokens as they come, its text, how it ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from engine.model.tokens import TextStream

if TYPE_CHECKING:
    from engine.engine import Engine

OnToken = Callable[["Handle", int, str], None]


class Handle:
    """One request of an engine.

    ``tokens`` are those delivered so far, ``text`` their text (a character whose last byte is not
    there yet is held back). ``status`` is waiting, active, finished, refused, cancelled or failed;
    ``finish_reason`` is length, stop, cancelled, failed or None; ``error`` is what a callback raised.
    Iterating yields the tokens and steps the engine while there are none to give.
    """

    def __init__(self, engine: Engine, key: str, on_token: OnToken | None) -> None:
        self.id = key
        self.tokens: list[int] = []
        self.text = ""
        self.status = "waiting"
        self.finish_reason: str | None = None
        self.error: BaseException | None = None
        self._engine = engine
        self._on_token = on_token
        self._stream = TextStream()

    @property
    def ended(self) -> bool:
        """No more tokens will come."""
        return self.status not in ("waiting", "active")

    def cancel(self) -> bool:
        """End the request now; no token is delivered afterwards. False if it had already ended."""
        return self._engine.cancel(self.id)

    def __iter__(self) -> Iterator[int]:
        given = 0
        while True:
            while given < len(self.tokens):
                given += 1
                yield self.tokens[given - 1]
            if self.ended:
                return
            self._engine.step()

    # ---- for the engine ----------------------------------------------------------------

    def deliver(self, token: int) -> None:
        """Take one token and hand it to the caller; whatever the callback raises goes through."""
        piece = self._stream.push(token)
        self.tokens.append(token)
        self.text += piece
        if self._on_token is not None:
            self._on_token(self, token, piece)

    def end(self, status: str, reason: str | None = None) -> None:
        """Close the request; bytes of an unfinished character become one U+FFFD."""
        self.text += self._stream.flush()
        self.status, self.finish_reason = status, reason
