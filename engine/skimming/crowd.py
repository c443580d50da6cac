"""Requests that give one token per tick, none of them looked at until its last."""

from __future__ import annotations

import heapq
from collections.abc import Iterator

from engine.scheduling.sequence import Sequence

Member = tuple[int, int, int, Sequence]  # tick of its last token, order, tick of its first token here, who


class Crowd:
    """Every member has a decode slot in every tick, so what it holds grows by one token per tick.

    The sum over all of them is a line over time, and joining and leaving only move the line.
    """

    def __init__(self) -> None:
        self._members: list[Member] = []  # a heap: the next to end is first
        self._base = 0

    def __len__(self) -> int:
        return len(self._members)

    def __iter__(self) -> Iterator[tuple[Sequence, int]]:
        """(who, tick of its first token here), in no order."""
        return ((sequence, since) for _, _, since, sequence in self._members)

    @property
    def next_end(self) -> int | None:
        """The next tick in which a member gives its last token."""
        return self._members[0][0] if self._members else None

    def join(self, sequence: Sequence, since: int) -> None:
        """Its next token comes in tick ``since``."""
        heapq.heappush(self._members, (since + sequence.left - 1, sequence.order, since, sequence))
        self._base += sequence.request.prompt_tokens + sequence.emitted - since + 1

    def held(self, tick: int) -> int:
        """Tokens that all members hold at the end of ``tick``."""
        return self._base + len(self._members) * tick

    def pop_ended(self, tick: int) -> list[tuple[Sequence, int]]:
        """Take out those whose last token comes in ``tick``: (who, tick of its first token here)."""
        ended = []
        while self._members and self._members[0][0] == tick:
            _, _, since, sequence = heapq.heappop(self._members)
            self._base -= sequence.request.prompt_tokens + sequence.emitted - since + 1
            ended.append((sequence, since))
        return ended
