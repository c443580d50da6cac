"""From real numbers to whole levels: the rounding rules of all formats.

Three rules hold everywhere:

* Zero is a level. 0.0 comes back as exactly 0.0, so padding and pruned weights stay nothing.
* A symmetric grid has as many levels below zero as above: 8 bits use -127…127 and 4 bits use -7…7.
  The value -128 (or -8) that two's complement has room for is never used, so the errors of
  +x and -x are equal.
* The scale is rounded to the type that stores it *before* the levels are chosen, so the levels
  make good what the scale lost.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from engine.quantize.errors import QuantizationError

LARGEST = 1e38
"""Greatest magnitude a weight may have; above it level times scale could overflow float32."""

SMALLEST_SCALE = torch.finfo(torch.float32).tiny
"""No scale is smaller: a row of zeros needs one too, and subnormal scales lose digits."""

EIGHT_BIT = 127
FOUR_BIT = 7
TOP = 15
"""Highest level of the asymmetric 4-bit grid, whose lowest is 0."""


@dataclass(frozen=True, slots=True)
class Rounded:
    """Levels (…, group) of int8 or uint8 with one `scale` (…) per group.

    A value is (level - zero) · scale; `zero` (…) is None for a symmetric grid, whose zero is level 0.
    """

    levels: Tensor
    scale: Tensor
    zero: Tensor | None = None

    def values(self) -> Tensor:
        """What the levels stand for, float32, in the shape of the levels."""
        levels = self.levels.float()
        if self.zero is not None:
            levels -= self.zero.float().unsqueeze(-1)
        return levels * self.scale.float().unsqueeze(-1)


def symmetric(values: Tensor, limit: int, scale_type: torch.dtype = torch.float32) -> Rounded:
    """Round `values` (…, group) to levels -limit…limit; the greatest magnitude becomes ±limit."""
    scale = _storable(values.abs().amax(-1) / limit, scale_type)
    return Rounded(levels_for(values, scale, limit), scale)


def levels_for(values: Tensor, scale: Tensor, limit: int) -> Tensor:
    """Nearest symmetric levels of `values` (…, group) on a grid of given `scale` (…), as int8."""
    steps = values / scale.float().unsqueeze(-1)
    return steps.round_().clamp_(-limit, limit).to(torch.int8)


def asymmetric(values: Tensor, scale_type: torch.dtype = torch.float32) -> Rounded:
    """Round `values` (…, group) to levels 0…15 spread from the smallest to the greatest value.

    The range always includes zero, so a group of one sign spends all its levels on that sign
    and zero is still a level.
    """
    low, high = values.amin(-1).clamp_max(0), values.amax(-1).clamp_min(0)
    scale = _storable((high - low) / TOP, scale_type)
    zero = (-low / scale.float()).round_().clamp_(0, TOP)
    steps = (values / scale.float().unsqueeze(-1)).round_() + zero.unsqueeze(-1)
    return Rounded(steps.clamp_(0, TOP).to(torch.uint8), scale, zero.to(torch.uint8))


def _storable(scale: Tensor, scale_type: torch.dtype) -> Tensor:
    return scale.clamp_min(SMALLEST_SCALE).to(scale_type)


def in_groups(weight: Tensor, group: int) -> Tensor:
    """`weight` (rows, columns) as (rows, groups, group), the last group filled up with zeros.

    Zeros change neither a group's greatest magnitude nor its range, so padding costs nothing but bytes.
    """
    missing = -weight.shape[1] % group
    padded = torch.nn.functional.pad(weight, (0, missing)) if missing else weight
    return padded.reshape(len(weight), -1, group)


def check_weight(weight: Tensor, layer: str) -> None:
    """Raise `QuantizationError`, naming `layer` and the first bad place, unless `weight` can be rounded."""
    if weight.ndim != 2 or not weight.numel():
        raise QuantizationError(f"{layer}: a weight of shape {tuple(weight.shape)} has nothing to quantize")
    if not weight.is_floating_point():
        raise QuantizationError(f"{layer}: the weight is {weight.dtype}, a floating-point type is needed")
    _refuse(~weight.isfinite(), weight, layer, "not finite")
    _refuse(weight.abs() > LARGEST, weight, layer, f"beyond ±{LARGEST:g}")


def _refuse(bad: Tensor, weight: Tensor, layer: str, what: str) -> None:
    places = bad.nonzero()
    if len(places):
        row, column = places[0].tolist()
        value = weight[row, column].item()
        raise QuantizationError(
            f"{layer}: {len(places)} of {weight.numel()} weights are {what}, "
            f"the first at row {row}, column {column}: {value:g}"
        )
