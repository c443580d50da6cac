"""Carries out plans with the torch model: one forward per tick, keys and values in pages."""

from __future__ import annotations

import time
from collections.abc import Sequence

import torch

from engine.model.cache import PagedKVCache
from engine.model.flops import forward_flops, recompute_flops
from engine.model.layout import Chunk
from engine.model.paged import exact_tile, forward, recompute
from engine.model.transformer import Transformer
from engine.records import Outcome, Plan, Result, Work

FIRST_PAGES = 64  # of an unlimited pool; it doubles as needed


class TorchExecutor:
    """Owns the KV memory and the tokens of live requests, nothing of the schedule.

    ``pages`` None is an unlimited pool whose memory grows. ``exact``: a request's logits are the same
    to the last bit whoever shares its ticks; else the fast path, whose last bits may differ.
    ``kv_cache`` False keeps nothing and computes every request from its first token in every tick.
    ``logits`` holds the logits of the last tick, by request.
    """

    def __init__(
        self,
        model: Transformer,
        pages: int | None,
        page_size: int,
        *,
        exact: bool,
        kv_cache: bool = True,
    ) -> None:
        self.model = model
        self.tile = exact_tile(model) if exact else None
        self.cache = PagedKVCache(model.config, pages or FIRST_PAGES, page_size, device=model_device(model))
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

    def execute(self, plan: Plan) -> Outcome:
        """One forward over all tokens of the tick (none when the plan has no work)."""
        self.logits = {}
        if not plan.has_work:
            return Outcome({})
        began = time.perf_counter()
        logits, tokens, flops = self._with_cache(plan) if self._cached else self._without_cache(plan)
        chosen = logits.argmax(-1).tolist()
        spent = 1000 * (time.perf_counter() - began)
        return Outcome(self._results(plan, logits, chosen), Work(1, tokens, flops, spent))

    def _with_cache(self, plan: Plan) -> tuple[torch.Tensor, int, int]:
        """Logits per decode and chunk, tokens fed, FLOPs: keys and values of earlier tokens are read."""
        self._make_room(plan)
        chunks = self._chunks(plan)
        logits = forward(self.model, self.cache, chunks, tile=self.tile)
        return logits, sum(len(c.tokens) for c in chunks), forward_flops(self.model.config, chunks)

    def _without_cache(self, plan: Plan) -> tuple[torch.Tensor, int, int]:
        """The same, with every request computed again from its first token."""
        whole = [self._tokens[chunk_id][:end] for chunk_id, end in self._ends(plan)]
        lengths = [len(tokens) for tokens in whole]
        logits = recompute(self.model, whole, tile=self.tile)
        return logits, sum(lengths), recompute_flops(self.model.config, lengths)

    @staticmethod
    def _ends(plan: Plan) -> list[tuple[str, int]]:
        """Each working request and the number of its tokens known after this tick's input."""
        decodes = [(step.id, step.position + 1) for step in plan.decode]
        return decodes + [(chunk.id, chunk.start + chunk.count) for chunk in plan.prefill]

    def _chunks(self, plan: Plan) -> list[Chunk]:
        """The plan's decodes, then its prefill chunks, as tokens and pages."""
        spans = [(step.id, step.position, 1) for step in plan.decode]
        spans += [(chunk.id, chunk.start, chunk.count) for chunk in plan.prefill]
        return [
            Chunk(self._tokens[key][start : start + count], start, plan.tables[key])
            for key, start, count in spans
        ]

    def _results(self, plan: Plan, logits: torch.Tensor, chosen: list[int]) -> dict[str, Result]:
        """One token for everybody who emits; a prefill chunk that is not the last gives none."""
        results = {}
        ids = [step.id for step in plan.decode] + [chunk.id for chunk in plan.prefill]
        emitting = set(plan.emitting)
        for row, key in enumerate(ids):
            if key in emitting:
                self._tokens[key].append(chosen[row])
                self.logits[key] = logits[row]
                results[key] = Result((chosen[row],))
        return results

    def _make_room(self, plan: Plan) -> None:
        """Let the memory of an unlimited pool reach the highest page of the plan."""
        highest = max((page for table in plan.tables.values() for page in table), default=0)
        if not self._growing or highest < self.cache.pages:
            return
        old, pages = self.cache, self.cache.pages
        while pages <= highest:
            pages *= 2
        self.cache = PagedKVCache(self.model.config, pages, old.page_size, device=old.device)
        self.cache.keys[:, :, : old.keys.shape[2]] = old.keys
        self.cache.values[:, :, : old.values.shape[2]] = old.values


def model_device(model: Transformer) -> torch.device:
    """Where the model's weights live."""
    return model.embedding.weight.device
