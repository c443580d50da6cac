"""Random windows of training text as batches of token ids."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor


def to_tokens(text: str) -> Tensor:
    """The bytes of `text` (ASCII) as a one-dimensional tensor of uint8."""
    return torch.frombuffer(bytearray(text.encode("ascii")), dtype=torch.uint8)


def join(works: Mapping[str, str]) -> Tensor:
    """All works one after the other as one tensor of bytes."""
    return to_tokens("".join(works.values()))


class Batches:
    """An endless stream of random windows; equal seeds give equal streams."""

    def __init__(self, text: Tensor, seed: int) -> None:
        self._text = text
        self._generator = torch.Generator().manual_seed(seed)

    def draw(self, sequences: int, length: int) -> tuple[Tensor, Tensor]:
        """Inputs and targets (the bytes one place further), both (sequences, length) of int64."""
        last = len(self._text) - length - 1
        starts = torch.randint(last + 1, (sequences, 1), generator=self._generator)
        windows = self._text[starts + torch.arange(length + 1)].long()
        return windows[:, :-1], windows[:, 1:]
