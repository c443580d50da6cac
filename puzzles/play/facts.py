"""What a run was short of, counted from its records: the grounds on which a setting has no effect."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec

from engine import History, TickRecord
from engine.measuring.peaks import used_pages

NO_PAGES = ("no_pages", "no_run", "preempted", "after_preemption")
NO_BUDGET = ("no_prefill_budget", "whole_prompt", "prefill_behind", "shared_budget")


class Facts(msgspec.Struct, frozen=True):
    """The largest figures of a run, and in how many ticks something was short.

    ``ready`` are requests that want a decode slot in one tick, ``prefill`` prompt tokens and ``tokens``
    all tokens of one tick; ``split`` counts prompts that took more than one tick.
    """

    ready: int
    prefill: int
    tokens: int
    active: int
    waiting: int
    pages: int
    requests: int
    split: int
    short_of_slots: int
    short_of_budget: int
    short_of_pages: int
    refused: int
    prompts: bool

    def joined(self, other: Facts) -> Facts:
        """The larger of both in everything: what may be said of both runs at once."""
        pairs = {name: (getattr(self, name), getattr(other, name)) for name in self.__struct_fields__}
        return Facts(**{name: max(pair) for name, pair in pairs.items()})


def facts(history: History) -> Facts:
    """The facts of a recorded run."""
    records = history.records
    chunks = Counter(key for record in records for key, _, _, _ in record.prefill)
    return Facts(
        ready=_most(_ready(record) for record in records),
        prefill=_most(_prefill(record) for record in records),
        tokens=_most(_prefill(record) + _decoded(record) for record in records),
        active=_most(len(record.active) for record in records),
        waiting=_most(len(record.waiting) for record in records),
        pages=_most(used_pages(record, history.service) for record in records),
        requests=len(history.requests),
        split=sum(count > 1 for count in chunks.values()),
        short_of_slots=_ticks(records, ("no_slot",)),
        short_of_budget=_ticks(records, NO_BUDGET),
        short_of_pages=_ticks(records, NO_PAGES),
        refused=sum(len(record.refused) for record in records),
        prompts=any(request.prompt is not None for request in history.requests.values()),
    )


def _most(numbers: Iterable[int]) -> int:
    return max(numbers, default=0)


def _ticks(records: Iterable[TickRecord], codes: tuple[str, ...]) -> int:
    """Ticks in which somebody was held back for one of these reasons."""
    return sum(any(reason.code in codes for _, reason in record.blocked) for record in records)


def _decoded(record: TickRecord) -> int:
    return sum(count for _, count in record.decode)


def _ready(record: TickRecord) -> int:
    """Who decoded, and who could have."""
    return len(record.decode) + sum(reason.code == "no_slot" for _, reason in record.blocked)


def _prefill(record: TickRecord) -> int:
    return sum(count for _, _, count, _ in record.prefill)
