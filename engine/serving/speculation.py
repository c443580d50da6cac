"""Speculative decoding: guess some tokens cheaply, check them all in one forward of the model.

Sources: Leviathan et al., arXiv 2211.17192 (draft model, acceptance rule); prompt lookup decoding
(guesses copied from the text so far).
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch

from engine.model.cache import PagedKVCache
from engine.model.layout import Chunk
from engine.model.paged import forward
from engine.model.transformer import Transformer

LONGEST_MATCH = 4


@dataclass(frozen=True)
class Question:
    """One request to guess for: its tokens so far, the most guesses wanted, its pages."""

    id: str
    tokens: Sequence[int]
    most: int
    block_table: Sequence[int]


@dataclass
class DraftCost:
    """What guessing has cost in this tick."""

    forwards: int = 0
    ms: float = 0.0


class Draft(Protocol):
    """Something that guesses the next tokens.

    ``guess`` gives up to ``most`` tokens (0 to 255) for each question, by id, and adds to ``cost``; a
    request that it leaves out has no guess. It may keep state per request: after each tick ``settle``
    says how many tokens of the request are final in the cache, ``forget`` that it has ended or lost
    its pages, ``resize`` that there are more pages now.
    """

    def guess(self, questions: Sequence[Question], cost: DraftCost) -> Mapping[str, Sequence[int]]: ...
    def settle(self, key: str, length: int) -> None: ...
    def forget(self, key: str) -> None: ...
    def resize(self, pages: int) -> None: ...


class PromptLookup:
    """Guesses without a model: what followed the last time the text ended like this."""

    def guess(self, questions: Sequence[Question], cost: DraftCost) -> dict[str, list[int]]:
        """Up to ``most`` guesses per request; none where the text does not repeat itself."""
        began = time.perf_counter()
        guesses = {q.id: look_up(q.tokens, q.most) for q in questions}
        cost.ms += 1000 * (time.perf_counter() - began)
        return guesses

    def settle(self, key: str, length: int) -> None:
        """Nothing is kept."""

    def forget(self, key: str) -> None:
        """Nothing is kept."""

    def resize(self, pages: int) -> None:
        """Nothing is kept."""


def look_up(tokens: Sequence[int], most: int) -> list[int]:
    """The up to ``most`` tokens after the latest earlier place that ends in the same (longest) run."""
    text = list(tokens)
    for length in range(min(LONGEST_MATCH, len(text) - 1), 0, -1):
        tail = text[-length:]
        for start in range(len(text) - length - 1, -1, -1):
            if text[start : start + length] == tail:
                return text[start + length : start + length + most]
    return []


class DraftModel:
    """Guesses with a small model that reads the same pages through a cache of its own.

    Greedy and in the fast mode: a guess need not be reproducible, it is checked. ``written`` counts,
    per request, the positions whose keys and values belong to the text as it now is.
    """

    def __init__(self, model: Transformer, pages: int, page_size: int) -> None:
        self.model = model
        self.cache = PagedKVCache(model.config, pages, page_size, device=model.embedding.weight.device)
        self.written: dict[str, int] = {}

    def guess(self, questions: Sequence[Question], cost: DraftCost) -> dict[str, list[int]]:
        """``most`` guesses per request, all requests together: one forward per guessed token."""
        began = time.perf_counter()
        guesses: dict[str, list[int]] = {q.id: [] for q in questions}
        for place in range(max((q.most for q in questions), default=0)):
            open_questions = [q for q in questions if q.most > place]
            chunks = [self._next_chunk(q, guesses[q.id]) for q in open_questions]
            best = forward(self.model, self.cache, chunks).argmax(-1).tolist()
            cost.forwards += 1
            for question, chunk, token in zip(open_questions, chunks, best, strict=True):
                guesses[question.id].append(token)
                self.written[question.id] = chunk.end
        cost.ms += 1000 * (time.perf_counter() - began)
        return guesses

    def _next_chunk(self, question: Question, guessed: list[int]) -> Chunk:
        """What the draft has not read yet: the text's last tokens, or the guess before this one."""
        text = [*question.tokens, *guessed]
        start = self.written.get(question.id, 0)
        return Chunk(text[start:], start, question.block_table)

    def settle(self, key: str, length: int) -> None:
        """Positions from ``length`` on hold wrong guesses."""
        if key in self.written:
            self.written[key] = min(self.written[key], length)

    def forget(self, key: str) -> None:
        """The request has ended, or has lost its pages."""
        self.written.pop(key, None)

    def resize(self, pages: int) -> None:
        """Let the memory have ``pages`` pages; nothing is lost."""
        self.cache.grow(pages)


def accept_greedy(guesses: Sequence[int], choices: Sequence[int]) -> int:
    """How many first guesses are what the model itself chose."""
    pairs = enumerate(zip(guesses, choices, strict=False))
    return next((place for place, (guess, choice) in pairs if guess != choice), len(guesses))


def accept_sampled(
    guesses: Sequence[int], draft: torch.Tensor, target: torch.Tensor, generator: torch.Generator
) -> list[int]:
    """The tokens of one round when sampling: accepted guesses and one token more.

    ``guesses`` were *sampled* from the rows of ``draft`` (k, vocabulary); ``target`` (k + 1,
    vocabulary) are the model's probabilities. A guess x is kept with probability
    min(1, target/draft); after the first rejection the token comes from max(target - draft, 0),
    normalised; after k acceptances from the last row. The result then follows ``target`` exactly.
    """
    for place, guess in enumerate(guesses):
        p, q = target[place], draft[place]
        if torch.rand((), generator=generator) * q[guess] < p[guess]:
            continue
        rest = (p - q).clamp(min=0)
        return [*guesses[:place], int(torch.multinomial(rest, 1, generator=generator))]
    return [*guesses, int(torch.multinomial(target[len(guesses)], 1, generator=generator))]


def expected_tokens(acceptance: float, k: int) -> float:
    """Mean tokens per round when each guess is right with probability ``acceptance``: (1-a^(k+1))/(1-a)."""
    return k + 1.0 if acceptance == 1 else (1 - acceptance ** (k + 1)) / (1 - acceptance)
