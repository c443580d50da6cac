"""What travels between the server and the process that plays."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from app.play.sheet import Sheet
from app.worker import RunSpec
from app.worker.spec import Failed, Ready, Refused
from engine import TickRecord

Kind = Literal["look", "play", "prepare", "csv", "json", "chrome"]


class Job(msgspec.Struct, frozen=True):
    """What is wanted of a sheet, in which language; ``recorded`` has the torch engine's ticks, by run.

    ``look`` reads the traces, ``play`` runs and draws, ``prepare`` says what the torch engine has to
    run, the others make a file.
    """

    kind: Kind
    sheet: Sheet
    language: str
    recorded: dict[str, tuple[TickRecord, ...]] = {}


# ---- news of a job ----------------------------------------------------------------------------------


class Going(msgspec.Struct, frozen=True, tag=True):
    """The run called ``run`` has come to ``tick``."""

    run: str
    tick: int


class Seen(msgspec.Struct, frozen=True, tag=True):
    """What the trace holds, as HTML."""

    html: str


class Prepared(msgspec.Struct, frozen=True, tag=True):
    """What the torch engine has to run, by run: how it is called, what, and for how many ticks at most."""

    runs: dict[str, tuple[str, RunSpec]]
    ticks: int


class Figures(msgspec.Struct, frozen=True, tag=True):
    """What the page shows of the runs.

    ``runs`` is the JSON of their views, ``known`` the ticks drawn. ``html`` holds the tables above
    the pictures, ``details`` those below. ``page`` has what the components are told: names, titles…
    """

    runs: str
    known: int
    tick_seconds: float
    html: str
    details: str
    page: dict[str, Any]


class Switches(msgspec.Struct, frozen=True, tag=True):
    """A sentence per setting: whether it matters here, or why not; and which do not matter."""

    sentences: dict[str, str]
    dead: tuple[str, ...]


class Made(msgspec.Struct, frozen=True, tag=True):
    """A file."""

    name: str
    media: str
    text: str


class Nothing(msgspec.Struct, frozen=True, tag=True):
    """There is no request in the trace."""


News = Going | Seen | Prepared | Figures | Switches | Made | Nothing

# ---- the pipe -----------------------------------------------------------------------------------------


class Go(msgspec.Struct, frozen=True, tag=True):
    """Begin ``job`` as ``key``, or go on with it where ``job`` is None, for about ``seconds``."""

    number: int
    key: str
    job: Job | None
    seconds: float


class Drop(msgspec.Struct, frozen=True, tag=True):
    """Nobody waits for ``key`` any more."""

    number: int
    key: str


class Answer(msgspec.Struct, frozen=True, tag=True):
    """The newest of a job, None at its end; ``spent`` seconds were worked for it just now."""

    number: int
    news: News | None
    spent: float


class Unknown(msgspec.Struct, frozen=True, tag=True):
    """There is no job of that key: the process was started again, or too many wait."""

    number: int


Command = Go | Drop
Reply = Answer | Unknown | Refused | Failed | Ready

commands: msgspec.msgpack.Decoder[Command] = msgspec.msgpack.Decoder(Command)
replies: msgspec.msgpack.Decoder[Reply] = msgspec.msgpack.Decoder(Reply)
