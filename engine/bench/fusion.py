"""Chains of operations, pass by pass through memory and in chunks that stay in the cache."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import msgspec
import torch
from torch import Tensor

from engine.bench.paper import mega, milli, page
from engine.bench.setting import Setting
from engine.bench.timing import least_seconds
from engine.kernels import fusion
from engine.kernels.memory import peak_bytes
from engine.kernels.traffic import norm_product_bytes, swiglu_bytes
from engine.words import Catalogue

NAME = "fusion"
ROWS, QUICK_ROWS = 8192, 512
HIDDEN, WIDTH = 2816, 256
"""Numbers of a row of SwiGLU, and of RMSNorm before a square matrix."""


class Chain(msgspec.Struct, frozen=True):
    """One chain over ``rows`` rows of ``width`` numbers, fused or not.

    ``moved`` are bytes between memory and cache, computed; ``extra`` the peak of the bytes of
    tensors made, the output included, measured; ``difference`` the largest |Δ| between the ways.
    """

    chain: str
    fused: bool
    rows: int
    width: int
    moved: int
    extra: int
    seconds: float
    difference: float


class _Way(NamedTuple):
    run: Callable[[], Tensor]
    moved: int


@torch.inference_mode()
def measure(setting: Setting) -> tuple[Chain, ...]:
    """Both chains, the ways in turn."""
    rows = QUICK_ROWS if setting.quick else ROWS
    return (
        *_chain("swiglu", rows, HIDDEN, _swiglu(rows), setting.repeats),
        *_chain("norm_product", 8 * rows, WIDTH, _norm_product(8 * rows), setting.repeats),
    )


def _swiglu(rows: int) -> dict[bool, _Way]:
    gate, up = torch.randn(rows, HIDDEN), torch.randn(rows, HIDDEN)
    return {
        False: _Way(partial(fusion.swiglu_unfused, gate, up), swiglu_bytes(rows, HIDDEN, fused=False)),
        True: _Way(partial(fusion.swiglu_fused, gate, up), swiglu_bytes(rows, HIDDEN, fused=True)),
    }


def _norm_product(rows: int) -> dict[bool, _Way]:
    hidden, scale = torch.randn(rows, WIDTH), torch.rand(WIDTH)
    matrix = torch.randn(WIDTH, WIDTH) * WIDTH**-0.5
    ways = {False: fusion.norm_product_unfused, True: fusion.norm_product_fused}
    return {
        fused: _Way(partial(way, hidden, scale, matrix), norm_product_bytes(rows, WIDTH, WIDTH, fused=fused))
        for fused, way in ways.items()
    }


def _chain(name: str, rows: int, width: int, ways: dict[bool, _Way], repeats: int) -> list[Chain]:
    took = least_seconds({fused: way.run for fused, way in ways.items()}, repeats)
    difference = float((ways[True].run() - ways[False].run()).abs().max())
    return [
        Chain(name, fused, rows, width, way.moved, peak_bytes(way.run), took[fused], difference)
        for fused, way in ways.items()
    ]


COLUMNS = "what kind moved_mb extra_mb ms delta"


def tell(result: Sequence[Chain], words: Catalogue) -> str:
    """The section as text."""
    rows = [
        (
            words(f"bench.fusion.{row.chain}", rows=row.rows, width=row.width),
            words(f"bench.fusion.{'fused' if row.fused else 'unfused'}"),
            mega(row.moved, 0),
            mega(row.extra, 0),
            milli(row.seconds),
            f"{row.difference:.1e}",
        )
        for row in result
    ]
    return page(words, NAME, COLUMNS, rows, chunk=fusion.ROWS)
