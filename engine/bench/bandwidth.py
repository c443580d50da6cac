"""Decode on a model so large that reading its weights is the work: fp32, int8, int4."""

from __future__ import annotations

from functools import partial

import msgspec

from engine.bench.paper import mega, milli, page, plain, ratio
from engine.bench.setting import Setting
from engine.bench.timing import median, paired_ratio, seconds, take_turns
from engine.model.paged import forward
from engine.model.speed import decode_tick
from engine.model.transformer import Transformer
from engine.quantize import quantize, stored
from engine.words import Catalogue

NAME = "bandwidth"
FORMATS = ("fp32", "int8", "int4")
ROWS, CONTEXT, PAGE = (1, 4), 64, 16
MOST_REPEATS = 15


class Decode(msgspec.Struct, frozen=True):
    """Median seconds of a step in which ``rows`` requests of 64 tokens get one token each.

    ``weight_bytes`` are read once per step; ``bandwidth`` is that in bytes per second; ``speedup``
    is over fp32 at as many rows, within the same repeat.
    """

    format: str
    rows: int
    seconds: float
    weight_bytes: int
    bandwidth: float
    tokens_per_second: float
    speedup: float


class Bandwidth(msgspec.Struct, frozen=True):
    """The number of parameters of the model, and a row per number of rows and format."""

    parameters: int
    rows: tuple[Decode, ...]


def measure(setting: Setting) -> Bandwidth:
    """Time the formats in turn, at each number of rows."""
    large = setting.make_large()
    models = {format: large if format == "fp32" else quantize(large, format) for format in FORMATS}
    repeats = min(3 * setting.repeats, MOST_REPEATS)
    rows = [row for count in ROWS for row in _at(models, count, repeats)]
    return Bandwidth(sum(parameter.numel() for parameter in large.parameters()), tuple(rows))


def _at(models: dict[str, Transformer], rows: int, repeats: int) -> list[Decode]:
    cache, chunks = decode_tick(models["fp32"], rows, CONTEXT, PAGE)
    steps = {name: partial(seconds, partial(forward, model, cache, chunks)) for name, model in models.items()}
    times = take_turns(steps, repeats)
    return [
        _row(name, rows, took, times["fp32"], stored(models[name]).linear) for name, took in times.items()
    ]


def _row(name: str, rows: int, took: list[float], fp32: list[float], size: int) -> Decode:
    step = median(took)
    return Decode(name, rows, step, size, size / step, rows / step, paired_ratio(fp32, took))


COLUMNS = "decodes format ms weights_mb gb_per_second tokens_per_second speedup"


def tell(result: Bandwidth, words: Catalogue) -> str:
    """The section as text."""
    rows = [
        (
            str(row.rows),
            row.format,
            milli(row.seconds),
            mega(row.weight_bytes, 1),
            plain(row.bandwidth / 1e9, 1),
            plain(row.tokens_per_second, 1),
            ratio(row.speedup),
        )
        for row in result.rows
    ]
    return page(words, NAME, COLUMNS, rows, parameters=mega(result.parameters, 0), context=CONTEXT)
