"""The training loop: Muon for the matrices of the layers, AdamW for everything else."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from engine.training.data import Batches

Loss = Callable[[Tensor, Tensor], Tensor]
"""From inputs and targets, both (sequences, length), to the mean loss in nats per byte."""


@dataclass(frozen=True)
class Schedule:
    """How long and how fast to train. The last part of the steps sees windows as long as the
    model's context, so that late positions are trained too; the bytes per step stay equal."""

    steps: int = 6000
    sequences: int = 32
    length: int = 256
    long_length: int = 512
    long_share: float = 0.15
    warmup: int = 100
    matrix_rate: float = 0.04
    other_rate: float = 0.004
    weight_decay: float = 0.02

    def shape(self, step: int) -> tuple[int, int]:
        """(sequences, length) of the batch at `step`."""
        if step < self.steps * (1 - self.long_share):
            return self.sequences, self.length
        return max(1, self.sequences * self.length // self.long_length), self.long_length

    def factor(self, step: int) -> float:
        """What the learning rates are multiplied with at `step`: linear warm-up, then a cosine to 1 %."""
        if step < self.warmup:
            return (step + 1) / self.warmup
        progress = (step - self.warmup) / max(1, self.steps - self.warmup)
        return 0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * progress))


def optimizers(model: nn.Module, schedule: Schedule) -> list[torch.optim.Optimizer]:
    """Muon for the matrices inside blocks; AdamW for the embedding, the head and the norms."""
    matrices: list[nn.Parameter] = []
    others: list[nn.Parameter] = []
    for name, parameter in model.named_parameters():
        inside = name.startswith("blocks.") and parameter.ndim == 2
        (matrices if inside else others).append(parameter)
    return [
        torch.optim.Muon(matrices, lr=schedule.matrix_rate, weight_decay=schedule.weight_decay),
        torch.optim.AdamW(others, lr=schedule.other_rate, betas=(0.9, 0.98), weight_decay=0.0),
    ]


def cross_entropy(model: nn.Module) -> Loss:
    """The loss of predicting each next byte."""

    def loss(inputs: Tensor, targets: Tensor) -> Tensor:
        return functional.cross_entropy(model(inputs).flatten(0, 1).float(), targets.flatten())

    return loss


def train(
    model: nn.Module, loss: Loss, batches: Batches, schedule: Schedule
) -> Iterator[tuple[int, float, float]]:
    """Train `model` in place; after each step yield (steps done, loss in nats per byte, seconds so far).

    Matrix products run in bfloat16 under autocast, weights and sums stay float32.
    """
    begun = time.monotonic()
    model.train()
    rules = optimizers(model, schedule)
    rates = [rule.param_groups[0]["lr"] for rule in rules]
    for step in range(schedule.steps):
        for rule, rate in zip(rules, rates, strict=True):
            rule.param_groups[0]["lr"] = rate * schedule.factor(step)
        value = _advance(model, loss, rules, batches.draw(*schedule.shape(step)))
        yield step + 1, value, time.monotonic() - begun
    model.eval()


def _advance(
    model: nn.Module, loss: Loss, rules: list[torch.optim.Optimizer], batch: tuple[Tensor, Tensor]
) -> float:
    with torch.autocast("cpu", torch.bfloat16):
        value = loss(*batch)
    value.backward()  # type: ignore[no-untyped-call]
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    for rule in rules:
        rule.step()
        rule.zero_grad(set_to_none=True)
    return value.item()
