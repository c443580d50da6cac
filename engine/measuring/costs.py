"""What preemption costs, and what the prefix cache and speculation give: counts over the ticks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from engine.measuring.life import Life
from engine.records import TickRecord


@dataclass
class Costs:
    """Tokens ``computed``; per request the prompt tokens ``found`` in the prefix cache at its first
    admission; ``rounds`` counts speculative rounds by (guessed, accepted), which gave ``given`` tokens
    and cost ``draft_ms``.
    """

    computed: int = 0
    found: dict[str, int] = field(default_factory=dict)
    rounds: Counter[tuple[int, int]] = field(default_factory=Counter)
    given: int = 0
    draft_ms: float = 0.0

    def note(self, record: TickRecord) -> None:
        """Enter one tick."""
        self.computed += sum(count for _, _, count, _ in record.prefill)
        self.computed += sum(count for _, count in record.decode)
        for key, count in record.hits:
            self.found.setdefault(key, count)
        if record.drafts:
            self._note_rounds(record)
        self.draft_ms += record.work.draft_ms if record.work else 0

    def _note_rounds(self, record: TickRecord) -> None:
        """A round may give fewer tokens than were accepted: the output ends at a stop."""
        given = dict(record.decode)
        for key, guessed, accepted in record.drafts:
            self.rounds[guessed, accepted] += 1
            self.given += given[key]

    def figures(self, lives: dict[str, Life]) -> dict[str, Any]:
        """The part of the summary about work done twice, found again, or guessed, by name."""
        again = sum(life.again for life in lives.values())
        return {
            "preemptions": sum(life.preempted for life in lives.values()),
            "recomputed_tokens": sum(life.recomputed_tokens for life in lives.values()),
            "recompute_tax": again / self.computed if self.computed else None,
            "prefix_queries": sum(lives[key].request.prompt_tokens for key in self.found),
            "prefix_hits": sum(self.found.values()),
            **self._drafts(),
        }

    def _drafts(self) -> dict[str, Any]:
        """Rounds of speculation; ``accepted_at`` counts, per position, the rounds that accepted it."""
        number = self.rounds.total()
        accepted = sum(right * times for (_, right), times in self.rounds.items())
        longest = max((guessed for guessed, _ in self.rounds), default=0)
        return {
            "draft_rounds": number,
            "drafted": sum(guessed * times for (guessed, _), times in self.rounds.items()),
            "accepted": accepted,
            "accepted_at": tuple(
                sum(times for (_, right), times in self.rounds.items() if right > place)
                for place in range(longest)
            ),
            "tokens_per_round": self.given / number if number else None,
            "draft_ms": self.draft_ms,
        }


def costs_of(records: Iterable[TickRecord]) -> Costs:
    """The costs of a recorded run."""
    costs = Costs()
    for record in records:
        costs.note(record)
    return costs
