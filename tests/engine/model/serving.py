"""Random small models and random ways to serve requests with them."""

from __future__ import annotations

import functools
import random
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from hypothesis import strategies
from torch import Tensor

from engine.model.cache import PagedKVCache
from engine.model.config import ModelConfig
from engine.model.layout import Chunk
from engine.model.paged import exact_tile, forward
from engine.model.transformer import Transformer, build


@functools.cache
def small_model(config: ModelConfig, seed: int) -> tuple[Transformer, int]:
    """A random model and its tile for exact mode."""
    model = build(config, seed)
    return model, exact_tile(model)


@strategies.composite
def configs(draw: strategies.DrawFn) -> ModelConfig:
    """Small shapes of every kind: odd widths, one or several key/value heads, one or two layers."""
    kv_heads = draw(strategies.sampled_from([1, 2, 3]))
    return ModelConfig(
        vocabulary=draw(strategies.sampled_from([16, 61])),
        width=draw(strategies.sampled_from([8, 32, 50])),
        layers=draw(strategies.sampled_from([1, 2])),
        query_heads=kv_heads * draw(strategies.sampled_from([1, 2])),
        kv_heads=kv_heads,
        head_dim=draw(strategies.sampled_from([4, 16])),
        hidden=draw(strategies.sampled_from([20, 64])),
        context=96,
    )


@dataclass(frozen=True)
class Load:
    """Requests as token lists, for each the lengths into which its tokens are cut and the tick of
    its first chunk, and the page size and page order of the pool."""

    requests: list[list[int]]
    cuts: list[list[int]]
    begins: list[int]
    page_size: int
    pages: list[int]

    def tables(self) -> list[list[int]]:
        """The block table of each request: pages in shuffled order, nobody's twice."""
        free, tables = list(self.pages), []
        for tokens in self.requests:
            count = -(-len(tokens) // self.page_size)
            tables.append([free.pop() for _ in range(count)])
        return tables


@strategies.composite
def loads(draw: strategies.DrawFn, vocabulary: int = 16, longest: int = 80) -> Load:
    """One to four requests that share ticks in every possible way."""
    source = random.Random(draw(strategies.integers(0, 2**32)))
    count = draw(strategies.integers(1, 4))
    lengths = [draw(strategies.integers(1, longest)) for _ in range(count)]
    longest_cut = draw(strategies.sampled_from([1, 3, 30, longest]))
    page_size = draw(strategies.integers(1, 9))
    pages = list(range(sum(-(-length // page_size) for length in lengths) + 3))
    source.shuffle(pages)
    requests = [[source.randrange(vocabulary) for _ in range(length)] for length in lengths]
    cuts = [cut(length, longest_cut, source) for length in lengths]
    return Load(requests, cuts, [source.randrange(4) for _ in lengths], page_size, pages)


def cut(length: int, longest: int, source: random.Random) -> list[int]:
    """Random positive lengths that sum to `length`."""
    parts = []
    while length:
        parts.append(source.randint(1, min(longest, length)))
        length -= parts[-1]
    return parts


def serve(model: Transformer, load: Load, tile: int | None) -> list[Tensor]:
    """Logits after every token of every request, served together tick by tick.

    The pool starts as NaN, so a slot read before it was written would show.
    """
    cache = PagedKVCache(model.config, len(load.pages), load.page_size)
    tables = load.tables()
    rows: list[list[Tensor]] = [[] for _ in load.requests]
    done = [0] * len(load.requests)
    for tick in range(max(begin + len(cuts) for begin, cuts in zip(load.begins, load.cuts, strict=True))):
        active = [
            r for r, cuts in enumerate(load.cuts) if load.begins[r] <= tick < load.begins[r] + len(cuts)
        ]
        lengths = [load.cuts[request][tick - load.begins[request]] for request in active]
        chunks = [
            Chunk(
                load.requests[request][done[request] : done[request] + length], done[request], tables[request]
            )
            for request, length in zip(active, lengths, strict=True)
        ]
        if not chunks:
            continue
        logits = forward(model, cache, chunks, tile=tile, every_row=True)
        for request, part in zip(active, logits.split(lengths), strict=True):
            rows[request].append(part)
            done[request] += len(part)
    return [torch.cat(parts) for parts in rows]


def alone(model: Transformer, tokens: Sequence[int], tile: int | None) -> Tensor:
    """Logits after every token of one request, all at once, in one page, nothing kept."""
    cache = PagedKVCache(model.config, 1, len(tokens))
    return forward(model, cache, [Chunk(tokens, 0, [0])], tile=tile, every_row=True)
