"""A request as it enters the service."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import msgspec

from engine.errors import InputError
from engine.exact import seconds

MOST = 10**15  # of anything that is counted: sums stay below 2**63, and floats are exact

LONGEST = 10**7  # tokens of one prompt, output or place: more than any model reads


def count(value: object, where: str, least: int = 1, most: int = MOST) -> int:
    """``value`` as a whole number from ``least`` to ``most``; InputError names ``where`` otherwise."""
    if isinstance(value, int) and not isinstance(value, bool):
        if abs(value) > most:  # before it is printed: a number of any length may come in
            raise InputError(f"{where}: it is out of range; a whole number from {least} to {most} is needed")
        if value >= least:
            return value
    raise InputError(f"{where}: {value!r} is not a whole number of at least {least}")


def utf8(text: str, where: str) -> bytes:
    """``text`` as UTF-8. Raises InputError for half a surrogate pair, which is no character."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        half = text[error.start]
        raise InputError(f"{where}: {half!r} is half a character; a whole one is needed") from None


def prompt_bytes(prompt: object, where: str = "prompt") -> tuple[int, ...]:
    """The tokens of a prompt: the UTF-8 bytes of a text, or whole numbers from 0 to 255 as they are.

    Raises InputError for anything else.
    """
    if isinstance(prompt, str):
        return tuple(utf8(prompt, where))
    tokens: tuple[Any, ...] = tuple(prompt) if isinstance(prompt, Iterable) else (None,)
    if not all(isinstance(t, int) and not isinstance(t, bool) and 0 <= t < 256 for t in tokens):
        raise InputError(f"{where}: it is no text and no list of token ids, whole numbers from 0 to 255")
    return tokens


class Request(msgspec.Struct, frozen=True):
    """One line of a trace: ``arrival`` in seconds, lengths in tokens.

    ``arrival`` is kept as an exact decimal (str, Decimal, int or float are accepted). ``prompt``
    (text or token ids) is used by the torch engine and the prefix cache; when given, its length must
    be ``prompt_tokens``. A higher ``priority`` goes first where an order asks for it. Raises InputError
    for lengths below 1 or above 10^7, a negative or non-finite arrival, an empty id, or a prompt of
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
        utf8(self.id, "request id")
        where = f"request {self.id}"
        arrival = seconds(self.arrival, f"{where}: arrival")
        if arrival < 0:
            raise InputError(f"{where}: arrival: {self.arrival} is negative; 0 or later is needed")
        msgspec.structs.force_setattr(self, "arrival", arrival)
        count(self.prompt_tokens, f"{where}: prompt_tokens", most=LONGEST)
        count(self.output_tokens, f"{where}: output_tokens", most=LONGEST)
        count(self.priority, f"{where}: priority", least=-MOST)
        if self.prompt is not None:
            self._check_prompt(where)

    def _check_prompt(self, where: str) -> None:
        assert self.prompt is not None
        tokens = prompt_bytes(self.prompt, f"{where}: prompt")
        if not isinstance(self.prompt, str):
            msgspec.structs.force_setattr(self, "prompt", tokens)
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
        if not isinstance(request, Request):
            raise InputError(f"request {place}: {request!r} is not a Request")
        if request.id in seen:
            raise InputError(f"request {place}: id {request.id!r} stands twice; every id must be its own")
        seen.add(request.id)
    return requests
