"""The trace files this lab reads, as one table: their columns and the unit of their times.

A format is recognised by its columns. Adding one is adding a row to ``FORMATS``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engine.errors import InputError

SECONDS = {"s": 0, "ms": -3, "us": -6, "ns": -9}  # unit → power of ten


@dataclass(frozen=True)
class Format:
    """Where a kind of file keeps arrival, prompt length and output length.

    ``unit`` is that of a numeric arrival; date-times are understood in every format. ``fixed`` says the
    unit stands in the column's name, so that a large number is not taken for an epoch. ``id``,
    ``text`` and ``priority`` name optional columns; ``also`` columns only tell the format from another.
    ``own`` is the lab's form: its arrivals stay as they are, and a row it cannot use is an error; a
    public trace is moved to its first arrival, and rows of 0 tokens (failed calls) are left out and
    counted.
    """

    name: str
    arrival: str
    prompt: str
    output: str
    unit: str = "s"
    fixed: bool = False
    id: str | None = None
    text: str | None = None
    priority: str | None = None
    also: tuple[str, ...] = ()
    own: bool = False

    @property
    def required(self) -> tuple[str, ...]:
        """Columns without which the file is not of this format."""
        return (self.arrival, self.prompt, self.output, *self.also)


FORMATS = (
    Format(
        *("Tick Lab", "arrival", "prompt_tokens", "output_tokens"),
        id="id",
        text="prompt",
        priority="priority",
        own=True,
    ),
    Format("Azure LLM inference", "TIMESTAMP", "ContextTokens", "GeneratedTokens"),
    Format("BurstGPT", "Timestamp", "Request tokens", "Response tokens"),
    Format("RAGPulse", "timestamp", "input_length", "output_length", also=("session_id",)),
    Format("Mooncake", "timestamp", "input_length", "output_length", unit="ms"),
    Format("Vidur", "arrived_at", "num_prefill_tokens", "num_decode_tokens"),
    Format("splitwise-sim", "arrival_timestamp", "prompt_size", "token_size", id="request_id"),
    Format("LLMServingSim", "arrival_time_ns", "input_toks", "output_toks", unit="ns", fixed=True),
    Format("LLMServingSim (measured)", "arrival_time", "input_toks", "output_toks", id="request_id"),
)


def folded(column: object) -> str:
    """A column's name without case, spaces, underscores and hyphens: how headers are compared."""
    return re.sub(r"[\s_-]+", "", str(column)).casefold()


def format_of(columns: Iterable[object]) -> Format | None:
    """The first format whose columns are all there, or None."""
    found = {folded(column) for column in columns}
    return next((form for form in FORMATS if not _missing(form, found)), None)


def unknown(columns: Sequence[str], name: str) -> InputError:
    """What is wrong with columns, of the file ``name``, that no format has, and what would be right."""
    found = {folded(column) for column in columns}
    nearest = min(FORMATS, key=lambda form: len(_missing(form, found)))
    missing = _missing(nearest, found)
    if len(missing) == 1 and len(nearest.required) > 2:
        return InputError.of(
            "missing_column", at=name, column=missing[0], format=nearest.name, columns=nearest.required
        )
    shown = ", ".join(columns[:6]) + (", ..." if len(columns) > 6 else "")
    accepted = "; ".join(f"{form.name}: {', '.join(form.required)}" for form in FORMATS)
    return InputError.of("unknown_columns", at=name, columns=shown, accepted=accepted)


def _missing(form: Format, found: set[str]) -> list[str]:
    return [column for column in form.required if folded(column) not in found]
