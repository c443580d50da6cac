"""Attention through the matrix of all scores against attention in tiles: same output, fewer bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import msgspec
import torch
from torch import Tensor
from torch.nn import functional

from engine.bench.paper import mega, milli, page
from engine.bench.setting import Setting
from engine.bench.timing import least_seconds
from engine.kernels.attention import TILE, tiled, whole
from engine.kernels.memory import peak_bytes
from engine.kernels.traffic import tiled_bytes, whole_bytes
from engine.words import Catalogue

NAME = "attention"
LENGTHS, QUICK_LENGTHS = (128, 256, 512, 1024, 2048, 4096), (128, 512, 1024)
HEAD_DIM, CACHE = 64, 2**20
LIBRARY = "library"  # torch's own kernel


class Attend(msgspec.Struct, frozen=True):
    """One head of 64 numbers over ``length`` tokens, no mask, one way of computing it.

    ``moved`` are bytes between memory and a cache of 1 MiB, computed (None: not known);
    ``extra`` is the peak of the bytes of tensors made, the output included, measured from the
    tensors (None: inside a library); ``difference`` the largest |Δ| to torch's own kernel.
    """

    length: int
    way: str
    moved: int | None
    extra: int | None
    seconds: float
    difference: float


@torch.inference_mode()
def measure(setting: Setting) -> tuple[Attend, ...]:
    """All lengths, the ways in turn."""
    lengths = QUICK_LENGTHS if setting.quick else LENGTHS
    return tuple(row for length in lengths for row in _at(length, 3 * setting.repeats))


def _at(length: int, repeats: int) -> list[Attend]:
    generator = torch.Generator().manual_seed(length)
    queries, keys, values = torch.randn(3, 1, length, HEAD_DIM, generator=generator)
    ways: dict[str, Callable[[], Tensor]] = {
        "whole": partial(whole, queries, keys, values, causal=False),
        "tiled": partial(tiled, queries, keys, values, causal=False),
        LIBRARY: partial(functional.scaled_dot_product_attention, queries, keys, values),
    }
    took, right = least_seconds(ways, repeats), ways[LIBRARY]()
    moved = {
        "whole": whole_bytes(length, HEAD_DIM, CACHE),
        "tiled": tiled_bytes(length, HEAD_DIM, min(TILE, length), CACHE),
    }
    return [
        Attend(
            length,
            way,
            moved.get(way),
            None if way == LIBRARY else peak_bytes(run),
            took[way],
            float((run() - right).abs().max()),
        )
        for way, run in ways.items()
    ]


COLUMNS = "length kind moved_mb extra_mb ms delta"


def tell(result: Sequence[Attend], words: Catalogue) -> str:
    """The section as text."""
    rows = [
        (
            str(row.length),
            words(f"bench.attention.{row.way}"),
            "—" if row.moved is None else mega(row.moved),
            "—" if row.extra is None else mega(row.extra),
            milli(row.seconds, 2),
            f"{row.difference:.1e}",
        )
        for row in result
    ]
    return page(words, NAME, COLUMNS, rows, tile=TILE, cache=CACHE // 2**20)
