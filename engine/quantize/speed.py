"""How long one decode step takes, milliseconds."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping, Sequence

import msgspec

from engine.model.cache import PagedKVCache
from engine.model.layout import Chunk
from engine.model.paged import forward
from engine.model.transformer import Transformer


class DecodeSpeed(msgspec.Struct, frozen=True):
    """Median `milliseconds` of a step in which `rows` requests of `context` tokens get one token each."""

    format: str
    rows: int
    context: int
    milliseconds: float


def decode_speeds(
    models: Mapping[str, Transformer],
    rows: Sequence[int] = (1, 3, 8),
    *,
    context: int = 64,
    repeats: int = 30,
) -> list[DecodeSpeed]:
    """Time every model of `models` (by format) at every number of `rows`.

    The models take turns within a repeat, so that a busy moment of the machine falls on all.
    """
    return [speed for count in rows for speed in _at(models, count, context, repeats)]


def _at(models: Mapping[str, Transformer], rows: int, context: int, repeats: int) -> list[DecodeSpeed]:
    caches = {name: _filled_cache(model, rows, context) for name, model in models.items()}
    chunks = [Chunk([0], context - 1, [page]) for page in range(rows)]
    times: dict[str, list[float]] = {name: [] for name in models}
    for _ in range(repeats + 1):
        for name, model in models.items():
            begun = time.perf_counter()
            forward(model, caches[name], chunks)
            times[name].append(1000 * (time.perf_counter() - begun))
    return [DecodeSpeed(name, rows, context, statistics.median(found[1:])) for name, found in times.items()]


def _filled_cache(model: Transformer, rows: int, context: int) -> PagedKVCache:
    cache = PagedKVCache(model.config, rows, context)
    cache.keys.zero_()
    cache.values.zero_()
    return cache
