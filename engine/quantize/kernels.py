"""Products of rows with quantized weights: which kernel, when, and why it may be trusted.

Two ways to multiply:

* float32: the weight is written out as float32 for the duration of one call, then multiplied as
  usual. Right for every shape; costs the writing-out.
* packed: torch's own CPU kernels read the small weight itself. Their fast versions take bfloat16
  activations, whose 8 bits of mantissa cost about 0.2 % of the result, half at the input, half at
  the output. That is of the order of int8's own error, so a small model whose quality is the point
  stays with float32; a large one, whose time is the reading of weights, wins several times.

Measured with torch 2.13.0, one thread, µs of one product (float32 weight | int8 float32 | int8
packed | int4 float32 | int4 packed):

    outputs × inputs, rows   AVX-512                      limited to AVX2
    768 × 128, 1               8 |  13 |  10 |  49 |   8      8 |  13 |  11 |  49 |  15
    768 × 128, 8              24 |  31 |  27 |  67 |  16     24 |  30 |  33 |  67 |  27
    256 × 1024, 1             16 |  29 |  13 |  97 |  13     15 |  30 |  18 |  97 |  32
    256 × 1024, 8             64 |  78 |  33 | 151 |  32     66 |  80 |  63 | 149 |  64
    256 × 1024, 32           187 | 193 | 117 | 287 | 115    188 | 195 | 229 | 272 | 235
    256 × 1024, 256         1316 |1287 | 841 |1417 | 827   1366 |1328 |1807 |1541 |1880

Hence the table below. The packed kernels compute each row by itself, in the same order whatever
the number of rows, so they are row-invariant; float32 products are not, see `product`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor
from torch.nn import functional

PACKED_WEIGHTS = 1 << 18
"""Weights in a matrix from which on the packed kernels are chosen."""

PACKED_ROWS = {"AVX512": 1 << 30, "AVX2": 16}
"""Rows up to which int8's packed kernel wins, by vector instructions; without any it never does."""

TILE = 8
"""Rows of one product in exact mode, where `safe_tile` allows it."""

_ALIGNMENT = 64  # bytes; torch's allocator gives every fresh tensor this much
_STEP = 16  # the bfloat16 int8 kernel reads this many columns at a time and does not check that they exist


def packed_rows() -> int:
    """Rows up to which int8's packed kernel is faster than float32 on this processor."""
    return PACKED_ROWS.get(torch.backends.cpu.get_cpu_capability(), 0)


def worth_packing(weights: int) -> bool:
    """Whether a matrix of so many weights is multiplied faster by a packed kernel on this processor."""
    return weights >= PACKED_WEIGHTS and packed_rows() > 0


def suits_int8(levels: Tensor) -> bool:
    """Whether torch's int8 kernel reads `levels` (outputs, inputs) rightly.

    With other than whole steps of inputs it computes garbage or reads beyond the weight.
    """
    whole = levels.shape[1] % _STEP == 0 and levels.is_contiguous() and levels.dtype == torch.int8
    return whole and levels.device.type == "cpu" and _int8_kernel_is_right()


def suits_int4(outputs: int, inputs: int, group: int, device: torch.device) -> bool:
    """Whether torch's int4 kernel can hold such a weight: whole groups, outputs in steps of 16."""
    whole = inputs % group == 0 and outputs % 16 == 0 and group in (32, 64, 128, 256)
    return whole and device.type == "cpu" and _int4_kernel_is_right()


def int8_packed(rows: Tensor, levels: Tensor, scale: Tensor) -> Tensor:
    """(rows, inputs) times int8 levels (outputs, inputs), scaled by (outputs,): float32 (rows, outputs).

    The kernel gets scales of one and the true ones are applied in float32, because it would
    round them to bfloat16.
    """
    ones = torch.ones(len(scale), dtype=torch.bfloat16)
    return torch._weight_int8pack_mm(_bfloat16(rows), levels, ones).float().mul_(scale)


def int4_layout(stored: Tensor) -> Tensor:
    """Stored levels 0…15 (outputs, inputs) in the order of torch's kernel: uint8 (outputs, inputs / 2).

    The order depends on the processor, so it never leaves the process.
    """
    return torch._convert_weight_to_int4pack_for_cpu(stored.to(torch.int32), 1)


def int4_packed(rows: Tensor, layout: Tensor, group: int, scales: Tensor) -> Tensor:
    """(rows, inputs) times a weight in `int4_layout`: float32 (rows, outputs).

    `scales` (groups, outputs, 2) are bfloat16 pairs: scale, and the value of level 8, here 0.
    """
    return torch._weight_int4pack_mm_for_cpu(_bfloat16(rows), layout, group, scales).float()


def int4_levels(layout: Tensor, inputs: int, group: int) -> Tensor:
    """Symmetric levels -8…7 (outputs, inputs), int8, that `layout` holds.

    Asked of the kernel itself, by multiplying the unit vectors with scales of one: right
    whatever order this processor uses.
    """
    outputs = len(layout)
    scales = torch.tensor((1.0, 0.0), dtype=torch.bfloat16).expand(inputs // group, outputs, 2).contiguous()
    parts = torch.split(torch.eye(inputs), 256)
    columns = torch.cat([int4_packed(part, layout, group, scales).to(torch.int8) for part in parts])
    return columns.T.contiguous()


def _bfloat16(rows: Tensor) -> Tensor:
    """A fresh, contiguous, aligned copy: the kernels crash on a view at an odd place."""
    return rows.to(torch.bfloat16, memory_format=torch.contiguous_format, copy=True)


@cache
def _int8_kernel_is_right() -> bool:
    levels = torch.arange(-127, 129, 2).repeat(4).reshape(16, 32).to(torch.int8)
    rows = torch.arange(96).reshape(3, 32) / 64 - 0.5
    return _agrees(lambda: int8_packed(rows, levels, torch.ones(16)), rows @ levels.float().T)


@cache
def _int4_kernel_is_right() -> bool:
    stored = (torch.arange(512) * 7 % 16).reshape(16, 32)
    rows = torch.arange(96).reshape(3, 32) / 64 - 0.5
    scales = torch.tensor((0.5, 0.0), dtype=torch.bfloat16).repeat(1, 16, 1)
    expected = rows @ ((stored.float() - 8) * 0.5).T
    return _agrees(lambda: int4_packed(rows, int4_layout(stored), 32, scales), expected)


def _agrees(compute: Callable[[], Tensor], expected: Tensor) -> bool:
    """Whether the kernel exists and is right within bfloat16's rounding."""
    try:
        return torch.allclose(compute(), expected, rtol=0.01, atol=0.01 * float(expected.abs().max()))
    except (RuntimeError, NotImplementedError):
        return False


def product(rows: Tensor, weight: Tensor, tile: int | None = None) -> Tensor:
    """(rows, inputs) times a float32 weight (outputs, inputs): (rows, outputs).

    How a float32 product rounds depends on how many rows it has. With a `tile` every product has
    exactly that many rows, missing ones filled with zeros, at aligned addresses: a row's result
    then depends on the row alone, provided that its place in the tile does not matter (`safe_tile`).
    """
    if tile is None or (len(rows) == tile and rows.is_contiguous() and rows.data_ptr() % _ALIGNMENT == 0):
        return functional.linear(rows, weight)
    result = rows.new_empty(len(rows), len(weight))
    for first in range(0, len(rows), tile):
        members = rows[first : first + tile]
        block = rows.new_zeros(tile, rows.shape[1])
        block[: len(members)] = members
        result[first : first + tile] = functional.linear(block, weight)[: len(members)]
    return result


@torch.no_grad()
def safe_tile(weight: Tensor, tile: int = TILE) -> int:
    """`tile` if a row's product with `weight` depends neither on its place among `tile` rows nor on
    the others' content, else 1.

    Found by trying with this very weight, because no library promises it: kernels for narrow
    matrices treat the last rows of a product differently from the first.
    """
    generator = torch.Generator().manual_seed(tile)
    rows = torch.randn(4 * tile, weight.shape[1], generator=generator).to(weight.device)
    alone = torch.cat([product(row[None], weight, tile) for row in rows])
    shifted = (product(rows.roll(by, 0), weight, tile).roll(-by, 0) for by in range(tile))
    return tile if all(torch.equal(alone, together) for together in shifted) else 1
