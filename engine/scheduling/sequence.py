"""A live request as the scheduler sees it: counters only, no tokens and no pages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from engine.requests import Request


@dataclass(slots=True, eq=False)
class Sequence:
    """``processed`` of ``target`` prefill tokens are done; ``emitted`` output tokens were delivered.

    ``target`` is the prompt, and after a preemption the prompt and the tokens emitted before it.
    ``order`` is the place in admission order, ``advanced`` the tick of the last emitted token,
    ``skipped`` how often it was passed over since then (while waiting: by later ones). ``known`` are
    its tokens (prompt and output) when the prefix cache needs them.
    """

    key: str
    request: Request
    arrives: int  # first tick at whose start it has arrived
    due: int  # first tick at which it has waited max_wait
    target: int
    place: int = 0  # in order of submission
    order: int = -1
    processed: int = 0
    found: int = 0  # of them, in the prefix cache at admission
    emitted: int = 0
    advanced: int = -1
    preemptions: int = 0
    skipped: int = 0
    known: list[int | None] | None = None
    finish: str | None = None

    @property
    def started(self) -> bool:
        """Some of its prompt has been computed."""
        return self.processed > self.found

    @property
    def ready(self) -> bool:
        """Its prompt is complete and it has tokens to emit."""
        return self.processed == self.target and self.finish is None

    @property
    def left(self) -> int:
        """Output tokens still to emit."""
        return self.request.output_tokens - self.emitted

    @property
    def remaining(self) -> int:
        """Prefill tokens still to process."""
        return self.target - self.processed

    @property
    def reserved(self) -> int:
        """Prompt and output tokens."""
        return self.request.prompt_tokens + self.request.output_tokens

    @property
    def held(self) -> int:
        """Tokens processed and emitted; while prefill is under way, the tokens processed so far."""
        if self.processed < self.target:
            return self.processed
        return self.request.prompt_tokens + self.emitted

    @property
    def written(self) -> int:
        """Tokens whose K/V is stored: the last emitted token's is not."""
        return self.held - 1 if self.emitted and self.processed == self.target else self.held


def known_values(tokens: Iterable[int | None]) -> list[int]:
    """The tokens up to the first whose value nobody knows (the ledger's outputs)."""
    values = []
    for token in tokens:
        if token is None:
            break
        values.append(token)
    return values
