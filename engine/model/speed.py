"""How long a tick takes beside the matrix products it cannot do without."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.model.cache import PagedKVCache
from engine.model.layout import Chunk
from engine.model.paged import forward
from engine.model.transformer import Transformer


@dataclass(frozen=True)
class TickTime:
    """Median microseconds of one tick of `decodes` decode steps at `context` tokens, and of its bare
    matrix products: every weight matrix, and queries times keys and weights times values."""

    decodes: int
    context: int
    tick: float
    bare: float

    @property
    def ratio(self) -> float:
        """Tick over bare products."""
        return self.tick / self.bare


def measure_tick(
    model: Transformer,
    decodes: int,
    context: int,
    *,
    page_size: int = 16,
    tile: int | None = None,
    repeats: int = 200,
) -> TickTime:
    """Time ticks and bare products in turn, so that a noisy machine slows both alike."""
    cache, chunks = decode_tick(model, decodes, context, page_size)
    products = bare_products(model, decodes, context)
    tick, bare = alternate(lambda: forward(model, cache, chunks, tile=tile), products, repeats)
    return TickTime(decodes, context, tick, bare)


def decode_tick(
    model: Transformer, decodes: int, context: int, page_size: int
) -> tuple[PagedKVCache, list[Chunk]]:
    """A cache with the pages of `decodes` requests in shuffled order, and the chunks of one tick."""
    generator = torch.Generator().manual_seed(0)
    pages = -(-context // page_size)
    cache = PagedKVCache(model.config, decodes * pages, page_size)
    cache.keys.normal_(generator=generator)
    cache.values.normal_(generator=generator)
    order = torch.randperm(decodes * pages, generator=generator).view(decodes, pages).tolist()
    return cache, [Chunk([65], context - 1, table) for table in order]


def bare_products(model: Transformer, decodes: int, context: int) -> Callable[[], None]:
    """A function that does the matrix products of one decode tick, on operands of the right shapes
    that lie ready, and nothing else."""
    config = model.config
    batch, group = config.kv_heads * decodes, config.query_heads // config.kv_heads
    keys = torch.randn(config.layers, 2, batch, context, config.head_dim)
    query, weights = torch.randn(batch, group, config.head_dim), torch.rand(batch, group, context)
    narrow, mixed = torch.randn(decodes, config.width), torch.randn(decodes, config.query_width)
    wide = torch.randn(decodes, config.hidden)

    @torch.inference_mode()
    def run() -> None:
        for layer, block in enumerate(model.blocks):
            block.attention.qkv(narrow)
            torch.bmm(query, keys[layer, 0].transpose(1, 2))
            torch.bmm(weights, keys[layer, 1])
            block.attention.output(mixed)
            block.mlp.gate_up(narrow)
            block.mlp.down(wide)
        model.head(narrow)

    return run


def alternate(first: Callable[[], Tensor], second: Callable[[], None], repeats: int) -> tuple[float, float]:
    """Median microseconds of two functions called in turn, after a warm-up of a tenth."""
    times: tuple[list[float], list[float]] = ([], [])
    for repeat in range(-(repeats // 10), repeats):
        for function, kept in zip((first, second), times, strict=True):
            begun = time.perf_counter()
            function()
            if repeat >= 0:
                kept.append((time.perf_counter() - begun) * 1e6)
    return statistics.median(times[0]), statistics.median(times[1])
