"""A run as it is asked for, and what travels through the pipe."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from engine import Request, Service, TickRecord


class RunSpec(msgspec.Struct, frozen=True):
    """Everything that decides a run. Equal specs have equal keys and share one recording."""

    service: Service
    requests: tuple[Request, ...]
    weights: str = "fp32"

    @property
    def key(self) -> str:
        return hashlib.sha256(msgspec.msgpack.encode(self, order="deterministic")).hexdigest()[:32]


class Advance(msgspec.Struct, frozen=True, tag=True):
    """Run ``spec`` until tick ``upto`` is recorded, or it ends; answer with the records from ``start``."""

    number: int
    spec: RunSpec
    start: int
    upto: int


class Compare(msgspec.Struct, frozen=True, tag=True):
    """Measure fp32, int8 and int4 side by side on the prompts of ``requests``."""

    number: int
    requests: tuple[Request, ...]


class Compared(msgspec.Struct, frozen=True, tag=True):
    """The answer to the Compare of that number: the engine's comparison as plain values."""

    number: int
    comparison: dict[str, Any]


class Advanced(msgspec.Struct, frozen=True, tag=True):
    """The answer to the Advance of that number."""

    number: int
    records: tuple[TickRecord, ...]
    done: bool


class Refused(msgspec.Struct, frozen=True, tag=True):
    """The command of that number could not be carried out; ``texts`` says why, by language.

    In every language: who asks for a run may share it with somebody who reads another one.
    """

    number: int
    texts: dict[str, str]


class Failed(msgspec.Struct, frozen=True, tag=True):
    """Carrying out the command of that number went wrong in a way nobody foresaw; the log has it."""

    number: int
    text: str


class Ready(msgspec.Struct, frozen=True, tag=True):
    """The process has loaded what it needs."""


Command = Advance | Compare
Reply = Advanced | Compared | Refused | Failed | Ready

commands: msgspec.msgpack.Decoder[Command] = msgspec.msgpack.Decoder(Command)
replies: msgspec.msgpack.Decoder[Reply] = msgspec.msgpack.Decoder(Reply)
HEADER = 4  # bytes that say how long the message is


def packed(message: msgspec.Struct) -> bytes:
    """``message`` as it travels: its length, then itself."""
    body = msgspec.msgpack.encode(message)
    return len(body).to_bytes(HEADER, "big") + body
