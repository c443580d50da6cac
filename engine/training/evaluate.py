"""Held-out loss at a stated window."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional


@dataclass(frozen=True)
class Evaluation:
    """Mean loss in nats per byte over `scored` bytes."""

    loss: float
    scored: int
    window: int
    stride: int

    @property
    def context(self) -> int:
        """Bytes that every scored byte at least has before it."""
        return self.window - self.stride

    @property
    def perplexity(self) -> float:
        """exp(loss): between how many equally likely bytes the model hesitates."""
        return math.exp(self.loss)


@torch.inference_mode()
def evaluate(model: nn.Module, text: Tensor, window: int = 256, stride: int = 128) -> Evaluation:
    """Slide a window of `window` inputs over `text` (bytes) and score its last `stride` targets.

    Raises `ValueError` for a stride that is not within 1 to `window`, and for a text shorter than
    one window and its target.
    """
    if not 1 <= stride <= window:
        raise ValueError(f"the stride must be within 1 and the window of {window}, not {stride}")
    if len(text) <= window:
        raise ValueError(f"the text has {len(text)} bytes, a window of {window} needs at least {window + 1}")
    total, scored = 0.0, 0
    for windows in torch.split(text.unfold(0, window + 1, stride), 32):
        logits = model(windows[:, :-1].long())[:, -stride:].flatten(0, 1)
        targets = windows[:, -stride:].long().flatten()
        total += functional.cross_entropy(logits, targets, reduction="sum").item()
        scored += len(targets)
    return Evaluation(total / scored, scored, window, stride)
