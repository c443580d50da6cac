"""The shapes of the views: what a component of the page, and a table without JavaScript, are given.

They hold finished words and numbers; whoever draws them computes nothing. Every frame belongs to one tick.
"""

from __future__ import annotations

import msgspec

# What a request did in one tick. Each kind has a colour, a letter and a word of its own.
CELL_KINDS = (
    "away",  # not arrived yet, or gone
    "waiting",  # visible and not admitted
    "prefill",  # prompt tokens processed, no token out
    "recompute",  # the same, after a preemption
    "first",  # the prompt is complete, the first token comes out
    "decode",  # one more token
    "last",  # the last token
    "blocked",  # admitted, and not progressing
    "seat",  # finished, keeps its place in a static batch
    "preempted",
    "refused",
    "cancelled",
    "failed",
)


class Cell(msgspec.Struct, frozen=True):
    """One request in one tick. ``letter`` is printed in it, ``why`` is its sentence, ``tokens`` processed."""

    tick: int
    kind: str
    letter: str
    why: str
    tokens: int = 0


class Row(msgspec.Struct, frozen=True):
    """One request of a timeline; ``arrival`` in seconds. ``colour`` is its place in the palette."""

    id: str
    colour: int
    arrival: float
    prompt_tokens: int
    output_tokens: int
    cells: tuple[Cell, ...]


class Timeline(msgspec.Struct, frozen=True):
    """One run; ``tick_seconds`` long ticks, ``ms`` measured per tick (None: no engine work)."""

    name: str
    title: str
    tick_seconds: float
    rows: tuple[Row, ...]
    ms: tuple[float | None, ...]


class Page(msgspec.Struct, frozen=True):
    """One page (or run of slots): its owner (None: free or cached), slots written and slots it has.

    ``why`` is its sentence; ``sharers`` are the other requests that use the same page; ``cached``: nobody
    uses it, and its content is kept.
    """

    owner: str | None
    written: int
    slots: int
    why: str
    sharers: tuple[str, ...] = ()
    cached: bool = False


class PageFrame(msgspec.Struct, frozen=True):
    """The pool at the end of one tick, tokens; ``events`` are sentences, ``cached`` pages kept for reuse."""

    tick: int
    pages: tuple[Page, ...]
    reserved: int
    held: int
    written: int
    free: int | None
    events: tuple[str, ...] = ()
    cached: int = 0


class PageMap(msgspec.Struct, frozen=True):
    """Every tick of one pool. ``layout`` is paged or contiguous."""

    name: str
    title: str
    layout: str
    page_size: int
    colours: dict[str, int]
    frames: tuple[PageFrame, ...]


class Gauge(msgspec.Struct, frozen=True):
    """The three ledgers in one tick: used of capacity (None: no limit), and the queue."""

    tick: int
    prefill: int
    prefill_budget: int
    decode: int
    decode_slots: int
    held: int
    pool: int | None
    waiting: int


class Strip(msgspec.Struct, frozen=True):
    """The three ledgers of one run over time."""

    name: str
    title: str
    frames: tuple[Gauge, ...]


class Speech(msgspec.Struct, frozen=True):
    """What one request has said by the end of a tick: text so far and its bytes."""

    id: str
    text: str
    data: tuple[int, ...]


class LogFrame(msgspec.Struct, frozen=True):
    """One tick in words: a sentence per event, and the text each request has received so far."""

    tick: int
    lines: tuple[str, ...]
    speech: tuple[Speech, ...]


class Log(msgspec.Struct, frozen=True):
    """One run in words."""

    name: str
    title: str
    frames: tuple[LogFrame, ...]


class RunView(msgspec.Struct, frozen=True):
    """Everything the page shows of one run; views of a part of a run are views of its first ticks."""

    timeline: Timeline
    strip: Strip
    pages: PageMap
    log: Log
    done: bool
