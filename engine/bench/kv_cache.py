"""One decode step with the KV cache and without it, over the length of the text."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from engine.bench.paper import bar, mega, milli, page, ratio
from engine.bench.setting import Setting
from engine.bench.timing import least_seconds
from engine.model.flops import recompute_flops, span_flops
from engine.model.paged import forward, recompute
from engine.model.speed import decode_tick
from engine.model.transformer import Transformer
from engine.words import Catalogue

NAME = "kv_cache"
LENGTHS, QUICK_LENGTHS = (16, 32, 64, 96, 128, 192, 256, 320, 384, 448, 512), (16, 64, 256, 512)
PAGE = 16


class Step(msgspec.Struct, frozen=True):
    """One decode step of one request whose text has ``length`` tokens with the one that is fed:
    analytic FLOPs and the fewest seconds of the repeats, with the cache and without."""

    length: int
    cached_flops: int
    recomputed_flops: int
    cached_seconds: float
    recomputed_seconds: float


def measure(setting: Setting) -> tuple[Step, ...]:
    """Steps at growing lengths, as far as the model's context reaches."""
    lengths = QUICK_LENGTHS if setting.quick else LENGTHS
    context = setting.model.config.context
    return tuple(_step(setting.model, n, 3 * setting.repeats) for n in lengths if n <= context)


def _step(model: Transformer, length: int, repeats: int) -> Step:
    cache, chunks = decode_tick(model, 1, length, PAGE)
    text = [65] * length
    contenders = {
        "cached": lambda: forward(model, cache, chunks),
        "recomputed": lambda: recompute(model, [text]),
    }
    took = least_seconds(contenders, repeats)
    cached = span_flops(model.config, length - 1, length)
    again = recompute_flops(model.config, [length])
    return Step(length, cached, again, took["cached"], took["recomputed"])


COLUMNS = "length cached_mflops recomputed_mflops flops_ratio cached_ms recomputed_ms ms_ratio curve"


def tell(result: Sequence[Step], words: Catalogue) -> str:
    """The section as text, with the time without the cache as a curve of bars."""
    longest = max(step.recomputed_seconds for step in result)
    rows = [
        (
            str(step.length),
            mega(step.cached_flops),
            mega(step.recomputed_flops),
            ratio(step.recomputed_flops / step.cached_flops),
            milli(step.cached_seconds, 2),
            milli(step.recomputed_seconds, 2),
            ratio(step.recomputed_seconds / step.cached_seconds),
            bar(step.recomputed_seconds, longest),
        )
        for step in result
    ]
    return page(words, NAME, COLUMNS, rows)
