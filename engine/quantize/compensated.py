"""Int4 whose levels are chosen by looking at text: GPTQ and AWQ.

The storage is that of `Int4Linear`; only the choice of levels differs. Layers are done in the order
in which they run, each looking at inputs from the layers before it as already quantized.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import torch
from torch import Tensor, nn

from engine.quantize.calibration import Statistics, Windows, inputs_of, statistics_of
from engine.quantize.errors import QuantizationError
from engine.quantize.formats import Format
from engine.quantize.grid import FOUR_BIT, Rounded, check_weight, in_groups, levels_for, symmetric
from engine.quantize.linear import Int4Linear

Model = TypeVar("Model", bound=nn.Module)

DAMPING = 0.01
"""Share of the mean diagonal that GPTQ adds to it: inputs that never vary must not divide by zero."""

EXPONENTS = tuple(step / 20 for step in range(20))
"""AWQ tries these powers of the mean input magnitude; the first, 0, is plain rounding."""


@torch.no_grad()
def compensate(model: Model, names: Iterable[str], wanted: Format, windows: Windows) -> Model:
    """Replace the linear layers `names` of `model` in place, one after the other, and return it.

    Raises `QuantizationError` naming the layer whose weight cannot be quantized or whose inputs
    on the calibration text are not finite.
    """
    for name in names:
        linear = model.get_submodule(name)
        assert isinstance(linear, nn.Linear)
        check_weight(linear.weight, name)
        statistics = statistics_of(inputs_of(model, name, windows))
        if not statistics.gram.isfinite().all():
            raise QuantizationError(f"{name}: its inputs on the calibration text are not finite")
        model.set_submodule(name, compensated_layer(linear, wanted, statistics))
    return model


def compensated_layer(linear: nn.Linear, wanted: Format, statistics: Statistics) -> Int4Linear:
    """`linear` in `wanted`, its levels chosen for inputs of these `statistics`."""
    assert wanted.group is not None
    weight = linear.weight.detach().float()
    if wanted.method == "gptq":
        rounded, channel = gptq(weight, statistics.gram, wanted.group), None
    else:
        rounded, channel = awq(weight, statistics, wanted.group)
    result = Int4Linear(rounded, linear.in_features, linear.bias, channel)
    result.format = wanted.name
    return result


def gptq(weight: Tensor, gram: Tensor, group: int) -> Rounded:
    """Levels (outputs, groups, group) chosen column by column, each column's rounding error being
    made good by the columns that are still free.

    `gram` (inputs, inputs) is the mean of x xᵀ. Source: arXiv 2210.17323, with the scale of a group
    taken when its first column is reached and columns in their own order.
    """
    free, factor = weight.clone(), _inverse_factor(gram)
    levels, scales = torch.empty_like(weight, dtype=torch.int8), []
    for column in range(weight.shape[1]):
        if column % group == 0:
            members = free[:, column : column + group]
            scales.append(symmetric(members, FOUR_BIT, torch.bfloat16).scale)
        levels[:, column] = levels_for(free[:, column, None], scales[-1], FOUR_BIT)[:, 0]
        lost = free[:, column] - levels[:, column] * scales[-1].float()
        free[:, column:] -= torch.outer(lost / factor[column, column], factor[column, column:])
    return Rounded(in_groups(levels, group), torch.stack(scales, 1))


def _inverse_factor(gram: Tensor) -> Tensor:
    """Upper Cholesky factor of the inverse of `gram`, damped: row i says how an error in column i is
    best spread over the columns after it."""
    damped = gram.double()
    diagonal = damped.diagonal()
    damped = damped + torch.eye(len(gram)) * max(DAMPING * float(diagonal.mean()), 1e-12)
    inverse = torch.cholesky_inverse(torch.linalg.cholesky(damped))
    factor: Tensor = torch.linalg.cholesky(inverse, upper=True)
    return factor.float()


def awq(weight: Tensor, statistics: Statistics, group: int) -> tuple[Rounded, Tensor]:
    """Levels of the weight with columns enlarged where inputs are large, and what undoes it: (inputs,).

    Among `EXPONENTS` the one with the smallest output error on the calibration text is taken.
    Source: arXiv 2306.00978, without its search for a clipping range.
    """
    candidates = (_enlarged(weight, statistics.magnitude, exponent, group) for exponent in EXPONENTS)
    return min(candidates, key=lambda found: statistics.output_error(_change(weight, *found)))


def _enlarged(weight: Tensor, magnitude: Tensor, exponent: float, group: int) -> tuple[Rounded, Tensor]:
    factor = magnitude.clamp_min(1e-4 * float(magnitude.max()) + 1e-12) ** exponent
    factor /= (factor.max() * factor.min()).sqrt()
    return symmetric(in_groups(weight * factor, group), FOUR_BIT, torch.bfloat16), 1 / factor


def _change(weight: Tensor, rounded: Rounded, channel: Tensor) -> Tensor:
    return rounded.values().flatten(1)[:, : weight.shape[1]] * channel - weight
