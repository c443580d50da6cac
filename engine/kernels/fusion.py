"""Two chains of operations, each as separate passes over memory and as one pass in chunks.

A processor without a compiler fuses like this: take a few rows, do everything to them while they
are in the cache, write the result, go on. A compiled kernel does the same with a few numbers in
registers.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

ROWS = 64
"""Rows of a chunk: two buffers of it stay in the cache."""


def swiglu_unfused(gate: Tensor, up: Tensor) -> Tensor:
    """silu(gate) · up of (rows, width) each: three operations, each through memory."""
    opened = torch.sigmoid(gate)
    passed = opened * gate
    return passed * up


def swiglu_fused(gate: Tensor, up: Tensor, rows: int = ROWS) -> Tensor:
    """The same, a chunk at a time: gate and up are read once, the result is written once."""
    output = torch.empty_like(gate)
    for chunk in _chunks(len(gate), rows):
        torch.sigmoid(gate[chunk], out=output[chunk])
        output[chunk].mul_(gate[chunk]).mul_(up[chunk])
    return output


def norm_product_unfused(hidden: Tensor, scale: Tensor, matrix: Tensor, epsilon: float = 1e-5) -> Tensor:
    """RMSNorm of (rows, width), then the product with `matrix` (outputs, width)."""
    squares = hidden * hidden
    size = torch.rsqrt(squares.mean(-1, keepdim=True) + epsilon)
    normed = hidden * size
    scaled = normed * scale
    return scaled @ matrix.T


def norm_product_fused(
    hidden: Tensor, scale: Tensor, matrix: Tensor, epsilon: float = 1e-5, rows: int = ROWS
) -> Tensor:
    """The same, a chunk at a time: the normed rows never leave the cache."""
    output = hidden.new_empty(len(hidden), len(matrix))
    squares, normed = hidden.new_empty(rows, hidden.shape[-1]), hidden.new_empty(rows, hidden.shape[-1])
    for chunk in _chunks(len(hidden), rows):
        part = hidden[chunk]
        torch.mul(part, part, out=squares[: len(part)])
        size = torch.rsqrt(squares[: len(part)].mean(-1, keepdim=True) + epsilon)
        torch.mul(part, size, out=normed[: len(part)]).mul_(scale)
        torch.mm(normed[: len(part)], matrix.T, out=output[chunk])
    return output


def _chunks(length: int, rows: int) -> Iterator[slice]:
    """`length` rows in slices of `rows`. Raises `ValueError` for an empty chunk."""
    if rows < 1:
        raise ValueError(f"a chunk needs at least 1 row, not {rows}")
    return (slice(start, start + rows) for start in range(0, length, rows))
