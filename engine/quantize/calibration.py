"""What the inputs of a layer look like on calibration text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from engine.model.weights import read_checked
from engine.quantize.errors import QuantizationError
from engine.training.texts import CALIBRATION_FILE

Windows = Tensor
"""Tokens (windows, length), int64."""

WINDOWS = 8
LENGTH = 256


def calibration_windows(windows: int = WINDOWS, length: int = LENGTH) -> Windows:
    """`windows` excerpts of `length` bytes, evenly spread over the calibration text beside the weights.

    Raises `BrokenWeights` when the text is missing or damaged.
    """
    text = torch.frombuffer(bytearray(read_checked(CALIBRATION_FILE)), dtype=torch.uint8).long()
    starts = torch.linspace(0, len(text) - length, windows).long()
    return text[starts[:, None] + torch.arange(length)]


@dataclass(frozen=True, slots=True)
class Statistics:
    """Of the inputs x of one layer: `gram` (inputs, inputs) is the mean of x xᵀ, `magnitude` (inputs,)
    the mean of |x|, over `rows` of them."""

    gram: Tensor
    magnitude: Tensor
    rows: int

    def output_error(self, difference: Tensor) -> float:
        """Mean squared change of the layer's output, summed over outputs, when its weight changes
        by `difference` (outputs, inputs)."""
        return float(((difference @ self.gram) * difference).sum())


def inputs_of(model: nn.Module, layer: str, windows: Windows) -> Tensor:
    """The rows (rows, inputs) that `layer` receives while `model` reads `windows`."""

    def stop(_: nn.Module, inputs: tuple[Any, ...]) -> None:
        raise _Reached(inputs[0])

    handle = model.get_submodule(layer).register_forward_pre_hook(stop)
    try:
        with torch.no_grad():
            model(windows)
    except _Reached as reached:
        return reached.rows.flatten(0, -2)
    finally:
        handle.remove()
    raise QuantizationError(f"{layer}: the model never runs this layer")


class _Reached(Exception):
    """Ends a forward as soon as the layer in question has its input: what follows is not needed."""

    def __init__(self, rows: Tensor) -> None:
        super().__init__()
        self.rows = rows


def statistics_of(rows: Tensor) -> Statistics:
    """Statistics of (rows, inputs)."""
    return Statistics(rows.T @ rows / len(rows), rows.abs().mean(0), len(rows))
