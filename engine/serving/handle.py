"""What a caller holds of a submitted request: its tokens as they come, its text, how it ended."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import TYPE_CHECKING

from engine.records import Reason

if TYPE_CHECKING:
    from engine.serving.engine import Engine

OnToken = Callable[["Handle", int, str], None]


class Handle:
    """One request of an engine.

    ``tokens`` are those delivered so far; ``text`` is their text, without a stop string, and without
    what may still become one or is an unfinished character. ``status`` is waiting, active, finished,
    refused, cancelled or failed; ``finish_reason`` is length, stop, cancelled, failed or None;
    ``error`` is what its callback or its forward raised, ``refusal`` why it was refused (a Reason).

    Who stops reading does not end the request; ``cancel`` does. Its times are
    ``engine.history.metrics().requests[handle.id]``.

    Iterating, with ``for`` or ``async for``, yields the tokens and has the engine step while there
    are none to give (never inside a callback: there ``RuntimeError`` is raised).
    """

    def __init__(self, engine: Engine, key: str, on_token: OnToken | None) -> None:
        self.id = key
        self.tokens: list[int] = []
        self.text = ""
        self.status = "waiting"
        self.finish_reason: str | None = None
        self.error: BaseException | None = None
        self.refusal: Reason | None = None
        self._engine = engine
        self._on_token = on_token

    def __repr__(self) -> str:
        return f"<Handle {self.id}: {self.status}, {len(self.tokens)} tokens>"

    @property
    def ended(self) -> bool:
        """No more tokens will come."""
        return self.status not in ("waiting", "active")

    def cancel(self) -> bool:
        """End the request now; no token is delivered afterwards.

        False if it had already ended; inside a callback that may be in this very tick, and then the
        tokens of the tick are still delivered.
        """
        return self._engine.cancel_handle(self)

    def __iter__(self) -> Iterator[int]:
        given = 0
        while given < len(self.tokens) or not self.ended:
            if given == len(self.tokens):
                self._engine.advance(self, given)
                continue
            given += 1
            yield self.tokens[given - 1]

    async def __aiter__(self) -> AsyncIterator[int]:
        given = 0
        while given < len(self.tokens) or not self.ended:
            if given == len(self.tokens):
                await self._engine.advance_in_loop(self, given)
                continue
            given += 1
            yield self.tokens[given - 1]

    # ---- for the engine ----------------------------------------------------------------

    def deliver(self, token: int, piece: str) -> None:
        """Take one token and the text it lets out, and call back; what the callback raises goes through."""
        self.tokens.append(token)
        self.text += piece
        if self._on_token is not None:
            self._on_token(self, token, piece)

    def end(self, status: str, reason: str | None = None) -> None:
        """Close the request."""
        self.status, self.finish_reason = status, reason
