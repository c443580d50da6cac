"""A request as it enters the service."""

from __future__ import annotations

from decimal import Decimal

import msgspec

from engine.errors import InputError
from engine.exact import seconds


def count(value: object, where: str, least: int = 1) -> int:
    """``value`` as a whole number ≥ ``least``; InputError names ``where`` otherwise."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole or value < least:  # type: ignore[operator]
        raise InputError(f"{where}: {value!r} is not a whole number of at least {least}")
    return value  # type: ignore[return-value]


def prompt_bytes(prompt: str | list[int] | tuple[int, ...]) -> tuple[int, ...]:
    """The tokens of a prompt. A token is a byte, so text becomes its UTF-8 bytes."""
    return tuple(prompt.encode()) if isinstance(prompt, str) else tuple(prompt)


class Request(msgspec.Struct, frozen=True):
    """One line of a trace: ``arrival`` in seconds, lengths in tokens.

    ``arrival`` is kept as an exact decimal (str, Decimal, int or float are accepted). ``prompt``
    (text or token ids) is used by the torch engine and the prefix cache; when given, its length must
    be ``prompt_tokens``. A higher ``priority`` goes first where an order asks for it. Raises
    InputError for lengths below 1, a negative or non-finite arrival, an empty id, or a prompt of
    another length.
    """

    id: str
    arrival: Decimal
    prompt_tokens: int
    output_tokens: int
    prompt: str | tuple[int, ...] | None = None
    priority: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.id, str) or not self.id:
            raise InputError(f"request id: {self.id!r} is not a name; a text such as R01 is needed")
        where = f"request {self.id}"
        arrival = seconds(self.arrival, f"{where}: arrival")
        if arrival < 0:
            raise InputError(f"{where}: arrival: {self.arrival} is negative; 0 or later is needed")
        msgspec.structs.force_setattr(self, "arrival", arrival)
        count(self.prompt_tokens, f"{where}: prompt_tokens")
        count(self.output_tokens, f"{where}: output_tokens")
        if not isinstance(self.priority, int) or isinstance(self.priority, bool):
            raise InputError(f"{where}: priority: {self.priority!r} is not a whole number")
        if self.prompt is not None:
            self._check_prompt(where)

    def _check_prompt(self, where: str) -> None:
        assert self.prompt is not None
        if not isinstance(self.prompt, str):
            msgspec.structs.force_setattr(self, "prompt", tuple(self.prompt))
        tokens = prompt_bytes(self.prompt)
        if not all(isinstance(token, int) and 0 <= token < 256 for token in tokens):
            raise InputError(f"{where}: prompt: token ids are whole numbers from 0 to 255")
        if len(tokens) != self.prompt_tokens:
            raise InputError(
                f"{where}: prompt has {len(tokens)} bytes but prompt_tokens says {self.prompt_tokens}; "
                "they must agree"
            )


def check_trace(requests: list[Request]) -> list[Request]:
    """The same list, proved usable: not empty, no id twice. Raises InputError."""
    if not requests:
        raise InputError("the trace is empty; at least one request is needed")
    seen: set[str] = set()
    for place, request in enumerate(requests, 1):
        if request.id in seen:
            raise InputError(f"request {place}: id {request.id!r} stands twice; every id must be its own")
        seen.add(request.id)
    return requests
