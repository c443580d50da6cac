"""Two 4-bit levels in one byte."""

from __future__ import annotations

import torch
from torch import Tensor

MIDDLE = 8
"""Stored for level 0 of a symmetric grid: levels -7…7 are stored as 1…15."""


def pack(levels: Tensor) -> Tensor:
    """Bytes (…, group / 2) of levels 0…15 (…, group), uint8.

    The low halves of the bytes hold the first half of a group and the high halves its second
    half, so that unpacking joins two runs instead of weaving single values. Raises `ValueError`
    for an odd group or a level outside 0…15.
    """
    if levels.shape[-1] % 2:
        raise ValueError(f"a group of {levels.shape[-1]} levels does not fill whole bytes")
    if levels.numel() and not 0 <= int(levels.min()) <= int(levels.max()) <= 15:
        raise ValueError(f"levels from {int(levels.min())} to {int(levels.max())} do not fit 4 bits")
    first, second = levels.to(torch.uint8).chunk(2, -1)
    return first | (second << 4)


def unpack(packed: Tensor) -> Tensor:
    """Levels 0…15 (…, group), uint8, of bytes (…, group / 2): the inverse of `pack`."""
    return torch.cat((packed & 15, packed >> 4), -1)
