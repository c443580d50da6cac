"""Carries out plans with the torch model: one forward per tick, keys and values in pages."""

from __future__ import annotations

import time
from collections.abc import Sequence

import torch

from engine.model.cache import PagedKVCache
from engine.model.flops import forward_flops, recompute_flops
from engine.model.layout import Chunk
from engine.model.paged import forward, known_tile, recompute
from engine.model.transformer import Transformer
from engine.records import Outcome, Plan, Result, Work
from engine.serving.speculation import Draft, DraftCost, Question, accept_greedy

FIRST_PAGES = 64  # of an unlimited pool; it doubles as needed
Guesses = dict[str, list[int]]


class TorchExecutor:
    """Owns the KV memory and the tokens of live requests, nothing of the schedule.

    ``pages`` None is an unlimited pool whose memory grows. ``exact``: a request's logits are the same
    to the last bit whoever shares its ticks; else the fast path, whose last bits may differ.
    ``kv_cache`` False keeps nothing and computes every request from its first token in every tick.
    ``draft`` guesses tokens where a plan allows it. ``logits`` holds, by request, the logits from
    which the last tick's tokens were chosen, (tokens, vocabulary).
    """

    def __init__(
        self,
        model: Transformer,
        pages: int | None,
        page_size: int,
        *,
        exact: bool,
        kv_cache: bool = True,
        draft: Draft | None = None,
    ) -> None:
        self.model = model
        self.tile = known_tile(model) if exact else None
        self.cache = PagedKVCache(model.config, pages or FIRST_PAGES, page_size, device=model_device(model))
        self.draft = draft
        self.logits: dict[str, torch.Tensor] = {}
        self._cached = kv_cache
        self._growing = pages is None
        self._tokens: dict[str, list[int]] = {}

    def begin(self, key: str, prompt: Sequence[int]) -> None:
        """Keep the prompt of a request that may be planned from now on."""
        self._tokens[key] = list(prompt)

    def forget(self, key: str) -> None:
        """Drop the tokens of a request that has ended."""
        self._tokens.pop(key, None)
        if self.draft is not None:
            self.draft.forget(key)

    def execute(self, plan: Plan) -> Outcome:
        """One forward over all tokens of the tick (none when the plan has no work)."""
        self.logits = {}
        if self.draft is not None:
            for key in plan.preempted:
                self.draft.forget(key)
        if not plan.has_work:
            return Outcome({})
        began = time.perf_counter()
        self._make_room(plan)
        cost = DraftCost()
        guesses = self._guess(plan, cost)
        chunks = self._chunks(plan, guesses)
        every_row = any(guesses.values())
        logits, fed, flops = self._forward(chunks, every_row=every_row)
        results = self._results(plan, chunks, guesses, logits, every_row)
        spent = 1000 * (time.perf_counter() - began)
        return Outcome(results, Work(1, fed, flops, spent, cost.forwards, cost.ms))

    # ---- the forward -------------------------------------------------------------------

    def _forward(self, chunks: list[Chunk], *, every_row: bool) -> tuple[torch.Tensor, int, int]:
        """Logits of the last (or of every) token of each chunk, tokens fed, FLOPs."""
        config = self.model.config
        if self._cached:
            logits = forward(self.model, self.cache, chunks, tile=self.tile, every_row=every_row)
            fed = sum(len(chunk.tokens) for chunk in chunks)
            return logits, fed, forward_flops(config, chunks, every_row=every_row)
        lengths = [len(chunk.tokens) for chunk in chunks]
        logits = recompute(self.model, [chunk.tokens for chunk in chunks], tile=self.tile)
        return logits, sum(lengths), recompute_flops(config, lengths)

    def _chunks(self, plan: Plan, guesses: Guesses) -> list[Chunk]:
        """The plan's decodes with their guesses, then its prefill chunks, as tokens and pages."""
        spans = [(step.id, step.position, step.position + 1) for step in plan.decode]
        spans += [(chunk.id, chunk.start, chunk.start + chunk.count) for chunk in plan.prefill]
        chunks = []
        for key, start, end in spans:
            first = start if self._cached else 0
            tokens = self._tokens[key][first:end] + guesses.get(key, [])
            chunks.append(Chunk(tokens, first, plan.tables[key]))
        return chunks

    def _make_room(self, plan: Plan) -> None:
        """Let the memory of an unlimited pool reach the highest page of the plan."""
        if not self._growing:
            return
        highest = max((page for table in plan.tables.values() for page in table), default=0)
        if highest < self.cache.pages:
            return
        pages = self.cache.pages
        while pages <= highest:
            pages *= 2
        if self.draft is not None:  # first: if there is no memory for it, the next tick tries both again
            self.draft.resize(pages)
        self.cache.grow(pages)

    # ---- guesses and results -------------------------------------------------------------

    def _guess(self, plan: Plan, cost: DraftCost) -> Guesses:
        """Guessed tokens of every decode step that may have some."""
        if self.draft is None:
            return {}
        questions = [
            Question(step.id, self._tokens[step.id], step.drafts, plan.tables[step.id])
            for step in plan.decode
            if step.drafts
        ]
        guesses = self.draft.guess(questions, cost)
        return {q.id: list(guesses.get(q.id, ()))[: q.most] for q in questions}

    def _results(
        self, plan: Plan, chunks: list[Chunk], guesses: Guesses, logits: torch.Tensor, every_row: bool
    ) -> dict[str, Result]:
        """Tokens for everybody who emits: the model's choice after the last token and each right guess."""
        chosen = logits.argmax(-1).tolist()
        ids = [step.id for step in plan.decode] + [chunk.id for chunk in plan.prefill]
        emitting, results, row = set(plan.emitting), {}, 0
        for key, chunk in zip(ids, chunks, strict=True):
            row += len(chunk.tokens) if every_row else 1
            if key not in emitting:
                continue
            guessed = guesses.get(key, [])
            first = row - 1 - len(guessed)
            accepted = accept_greedy(guessed, chosen[first:row]) if guessed else 0
            given = chosen[first : first + accepted + 1]
            self.logits[key] = logits[first : first + accepted + 1]
            self._accept(key, given)
            results[key] = Result(tuple(given), None, len(guessed), accepted)
        return results

    def _accept(self, key: str, tokens: list[int]) -> None:
        self._tokens[key].extend(tokens)
        if self.draft is not None:
            self.draft.settle(key, len(self._tokens[key]) - 1)


def model_device(model: Transformer) -> torch.device:
    """Where the model's weights live."""
    return model.embedding.weight.device
