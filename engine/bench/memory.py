"""What the weights, the KV pool and the process occupy."""

from __future__ import annotations

import resource
import sys
from collections.abc import Sequence

import msgspec

from engine.bench.load import SERVICE, load, serve
from engine.bench.paper import mega, page, plain
from engine.bench.setting import Setting
from engine.kv.pages import pages_for
from engine.model.cache import PagedKVCache
from engine.model.transformer import Transformer
from engine.quantize import quantize, stored
from engine.requests import Request
from engine.words import Catalogue

NAME = "memory"
FORMATS = ("fp32", "int8", "int4")


class Part(msgspec.Struct, frozen=True):
    """Bytes of one thing, and, for weights and pools, per parameter or token."""

    what: str
    bytes: int
    each: float | None = None


class Memory(msgspec.Struct, frozen=True):
    """Weights by format; the KV pool: all of it, what the load took of it at its peak, and what one
    run of adjacent slots per request, as long as the longest, would have taken; the process's peak."""

    parts: tuple[Part, ...]


def measure(setting: Setting) -> Memory:
    """Weigh the model in each format, then serve the load and look at the pool and the process."""
    before = peak_rss()
    weights = [_weights(setting.model, format) for format in FORMATS]
    requests = load()
    cache = PagedKVCache(setting.model.config, SERVICE.pages or 1, SERVICE.page_size)
    records = serve(setting.model, SERVICE, requests).records
    peak = max(sum(map(len, record.pages.values())) for record in records)
    active = max(len(record.active) for record in records)
    token = setting.model.config.kv_bytes_per_token()
    pool = [
        Part("kv_pool", cache.bytes, token),
        Part("kv_peak", peak * SERVICE.page_size * token, token),
        Part("kv_contiguous", active * _longest(requests) * token, token),
    ]
    process = [Part("rss_before", before), Part("rss_after", peak_rss())]
    return Memory((*weights, *pool, *process))


def _longest(requests: Sequence[Request]) -> int:
    """Slots of the longest request, whole pages."""
    longest = max(request.prompt_tokens + request.output_tokens for request in requests)
    return pages_for(longest, SERVICE.page_size) * SERVICE.page_size


def _weights(model: Transformer, format: str) -> Part:
    size = stored(model if format == "fp32" else quantize(model, format)).total
    return Part(f"weights_{format}", size, size / sum(p.numel() for p in model.parameters()))


def peak_rss() -> int:
    """The most memory this process has had so far, bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


COLUMNS = "what mb bytes_each"


def tell(result: Memory, words: Catalogue) -> str:
    """The section as text."""
    rows = [(words(f"bench.what.{p.what}"), mega(p.bytes), plain(p.each, 2)) for p in result.parts]
    return page(words, NAME, COLUMNS, rows)
