"""Prefill and decode on the roof of this machine: work, bytes and time of single ticks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import msgspec
import torch
from torch import Tensor, nn

from engine.bench.paper import grid, heading, mega, milli, plain
from engine.bench.setting import Setting
from engine.bench.timing import least_seconds
from engine.model.cache import PagedKVCache
from engine.model.flops import forward_flops
from engine.model.layout import Chunk
from engine.model.paged import forward, product
from engine.model.speed import decode_tick
from engine.model.traffic import Traffic, forward_traffic
from engine.model.transformer import Transformer
from engine.words import Catalogue

NAME = "phases"
DECODES = (1, 4, 8, 16)
PROMPTS, QUICK_PROMPTS = (16, 64, 256), (16, 64)
CONTEXT, PAGE = 64, 16
SIDE, READ_BYTES = 1536, 2**28
QUICK_SIDE, QUICK_READ_BYTES = 256, 2**24


class Peaks(msgspec.Struct, frozen=True):
    """The best this process got: operations per second of a large product, bytes per second of a
    matrix times a vector, with the matrix in memory and with one as small as the tiny model."""

    flops: float
    memory: float
    cache: float


class Tick(msgspec.Struct, frozen=True):
    """The forward of one tick: ``decode`` gives one token to each of ``count`` requests of 64
    tokens, ``prefill`` reads one prompt of ``count`` tokens. FLOPs and bytes are computed (float32
    weights, keys and values; activations left out), ``seconds`` the fewest of
    the repeats."""

    model: str
    phase: str
    count: int
    flops: int
    weight_bytes: int
    kv_bytes: int
    seconds: float

    @property
    def bytes(self) -> int:
        """All bytes that the tick needs from memory."""
        return self.weight_bytes + self.kv_bytes

    @property
    def intensity(self) -> float:
        """Operations per byte."""
        return self.flops / self.bytes


class Phases(msgspec.Struct, frozen=True):
    """The roof, and the ticks under it."""

    peaks: Peaks
    ticks: tuple[Tick, ...]


def measure(setting: Setting) -> Phases:
    """The peaks of the machine, then the ticks of both models."""
    prompts = QUICK_PROMPTS if setting.quick else PROMPTS
    ticks = _ticks("tiny", setting.model, prompts, 5 * setting.repeats)
    peaks = _peaks(quick=setting.quick, repeats=setting.repeats)
    return Phases(peaks, (*ticks, *_ticks("large", setting.make_large(), prompts, setting.repeats)))


@torch.inference_mode()
def _peaks(*, quick: bool, repeats: int) -> Peaks:
    side, size = (QUICK_SIDE, QUICK_READ_BYTES) if quick else (SIDE, READ_BYTES)
    square, rows = nn.Linear(side, side, bias=False), torch.randn(side, side)
    products = (partial(torch.mm, rows, square.weight), partial(product, square, rows))
    fastest = min(_best(one, repeats) for one in products)
    small = 4 * 1024 * 850  # bytes of a matrix about as large as the tiny model
    return Peaks(2 * side**3 / fastest, _bandwidth(size, repeats), _bandwidth(small, 20 * repeats))


def _bandwidth(size: int, repeats: int) -> float:
    matrix, vector = torch.ones(size // 4096, 1024), torch.ones(1024)
    return matrix.nbytes / _best(partial(torch.mv, matrix, vector), repeats)


def _best(function: Callable[[], Tensor], repeats: int) -> float:
    """The fewest seconds of several calls: a peak is what is possible, not what is usual."""
    return least_seconds({0: function}, repeats)[0]


def _ticks(name: str, model: Transformer, prompts: Sequence[int], repeats: int) -> list[Tick]:
    cases = [("decode", count, *decode_tick(model, count, CONTEXT, PAGE)) for count in DECODES]
    cases += [("prefill", count, *_prompt(model, count)) for count in prompts]
    runs = {(phase, count): partial(forward, model, cache, chunks) for phase, count, cache, chunks in cases}
    took = least_seconds(runs, repeats)
    return [_tick(name, model, phase, count, chunks, took[phase, count]) for phase, count, _, chunks in cases]


def _prompt(model: Transformer, length: int) -> tuple[PagedKVCache, list[Chunk]]:
    """An empty cache and the chunk of one whole prompt."""
    return PagedKVCache(model.config, 1, length), [Chunk([65] * length, 0, [0])]


def _tick(
    name: str, model: Transformer, phase: str, count: int, chunks: Sequence[Chunk], took: float
) -> Tick:
    moved: Traffic = forward_traffic(model.config, chunks)
    work = forward_flops(model.config, chunks)
    return Tick(name, phase, count, work, moved.weights, moved.kv_read + moved.kv_written, took)


COLUMNS = "model phase count mflops bytes_mb intensity ms gflops_per_second gb_per_second"


def tell(result: Phases, words: Catalogue) -> str:
    """The section as text: the roof in a sentence, a row per tick."""
    peaks = result.peaks
    note = heading(
        words,
        NAME,
        flops=plain(peaks.flops / 1e9, 1),
        memory=plain(peaks.memory / 1e9, 1),
        cache=plain(peaks.cache / 1e9, 1),
        ridge=plain(peaks.flops / peaks.memory, 1),
    )
    rows = [
        (
            tick.model,
            tick.phase,
            str(tick.count),
            mega(tick.flops, 1),
            mega(tick.bytes, 2),
            plain(tick.intensity, 2),
            milli(tick.seconds, 2),
            plain(tick.flops / tick.seconds / 1e9, 1),
            plain(tick.bytes / tick.seconds / 1e9, 1),
        )
        for tick in result.ticks
    ]
    return "\n".join([note, "", grid(words, COLUMNS, rows)])
