"""A request as it enters the service."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import msgspec

from engine.errors import InputError, Where
from engine.exact import seconds
from engine.words import Phrase

MOST = 10**15  # of anything that is counted: sums stay below 2**63, and floats are exact

LONGEST = 10**7  # tokens of one prompt, output or place: more than any model reads


def count(value: object, where: Where, least: int = 1, most: int = MOST) -> int:
    """``value`` as a whole number from ``least`` to ``most``; InputError names ``where`` otherwise."""
    if isinstance(value, int) and not isinstance(value, bool):
        if abs(value) > most:  # before it is printed: a number of any length may come in
            raise InputError.of("out_of_range", at=where, least=least, most=most)
        if value >= least:
            return value
    raise InputError.of("not_whole", at=where, value=repr(value), least=least)


def utf8(text: str, where: Where) -> bytes:
    """``text`` as UTF-8. Raises InputError for half a surrogate pair, which is no character."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        half = text[error.start]
        raise InputError.of("half_a_character", at=where, value=repr(half)) from None


def prompt_bytes(prompt: object, where: Where = "prompt") -> tuple[int, ...]:
    """The tokens of a prompt: the UTF-8 bytes of a text, or whole numbers from 0 to 255 as they are.

    Raises InputError for anything else.
    """
    if isinstance(prompt, str):
        return tuple(utf8(prompt, where))
    tokens: tuple[Any, ...] = tuple(prompt) if isinstance(prompt, Iterable) else (None,)
    if not all(isinstance(t, int) and not isinstance(t, bool) and 0 <= t < 256 for t in tokens):
        raise InputError.of("no_prompt", at=where)
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
            raise InputError.of("no_name", at=Phrase("place.request_id"), value=repr(self.id))
        utf8(self.id, Phrase("place.request_id"))
        try:
            self._check()
        except InputError as error:
            raise error.at(self.where) from None

    @property
    def where(self) -> Phrase:
        """How an error says that it is about this request."""
        return Phrase("place.request", id=self.id)

    def _check(self) -> None:
        arrival = seconds(self.arrival, "arrival")
        if arrival < 0:
            raise InputError.of("negative_arrival", at="arrival", value=self.arrival)
        msgspec.structs.force_setattr(self, "arrival", arrival)
        count(self.prompt_tokens, "prompt_tokens", most=LONGEST)
        count(self.output_tokens, "output_tokens", most=LONGEST)
        count(self.priority, "priority", least=-MOST)
        if self.prompt is not None:
            self._check_prompt()

    def _check_prompt(self) -> None:
        assert self.prompt is not None
        tokens = prompt_bytes(self.prompt)
        if not isinstance(self.prompt, str):
            msgspec.structs.force_setattr(self, "prompt", tokens)
        if len(tokens) != self.prompt_tokens:
            raise InputError.of("prompt_of_another_length", found=len(tokens), said=self.prompt_tokens)


def check_trace(requests: Iterable[Request]) -> list[Request]:
    """The requests as a list, proved usable: not empty, no id twice. Raises InputError."""
    if not isinstance(requests, Iterable):
        raise InputError.of("not_requests", value=repr(requests))
    trace = list(requests)
    if not trace:
        raise InputError.of("empty_trace")
    seen: set[str] = set()
    for place, request in enumerate(trace, 1):
        if not isinstance(request, Request):
            raise InputError.of("no_request", at=Phrase("place.request", id=place), value=repr(request))
        if request.id in seen:
            raise InputError.of("id_twice", at=Phrase("place.request", id=place), id=repr(request.id))
        seen.add(request.id)
    return trace
