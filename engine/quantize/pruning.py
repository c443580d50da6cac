"""Weights left out instead of stored in fewer bits.

Each function returns a new model. Single weights set to zero (`prune_weights`, `prune_two_of_four`)
save nothing as long as zeros are stored like other numbers: `sparse_bytes` says what a format
that leaves them out would need. Whole hidden units removed (`prune_hidden`) make truly smaller
matrices.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TypeVar

import torch
from torch import Tensor, nn

from engine.model.transformer import FeedForward
from engine.quantize.errors import QuantizationError

Model = TypeVar("Model", bound=nn.Module)


def prune_weights(model: Model, share: float) -> Model:
    """Set that share of every linear layer's weights to zero, those of smallest magnitude.

    Raises `QuantizationError` for a share outside 0 to 1.
    """
    _check(share)
    return _each_weight(model, lambda weight: _without_smallest(weight, share))


def prune_two_of_four(model: Model) -> Model:
    """Of every four consecutive inputs keep the two with the greatest weights: the pattern that
    sparse tensor cores skip. Inputs beyond the last whole four stay."""
    return _each_weight(model, _two_of_four)


@torch.no_grad()
def prune_hidden(model: Model, share: float) -> Model:
    """Remove that share of every feed-forward block's hidden units, those that can add least.

    A unit's measure is the product of the norms of its gate, up and down weights. Raises
    `QuantizationError` for a share that leaves no unit.
    """
    _check(share)
    pruned = copy.deepcopy(model)
    for block in pruned.modules():
        if isinstance(block, FeedForward):
            _remove_units(block, share)
    return pruned


def sparse_bytes(weight: Tensor) -> int:
    """Bytes of `weight` when only numbers other than zero are stored, and one bit per place says
    which they are."""
    return int(weight.count_nonzero()) * weight.element_size() + -(-weight.numel() // 8)


def zero_share(model: nn.Module) -> float:
    """Share of all linear layers' weights that are zero."""
    weights = [module.weight for module in model.modules() if isinstance(module, nn.Linear)]
    total = sum(weight.numel() for weight in weights)
    return 1 - sum(int(weight.count_nonzero()) for weight in weights) / total if total else 0.0


def _check(share: float) -> None:
    if not 0 <= share < 1:
        raise QuantizationError(f"share: {share} is not within 0 and 1, 1 excluded")


@torch.no_grad()
def _each_weight(model: Model, change: Callable[[Tensor], Tensor]) -> Model:
    pruned = copy.deepcopy(model)
    for module in pruned.modules():
        if isinstance(module, nn.Linear):
            module.weight.copy_(change(module.weight))
    return pruned


def _without_smallest(weight: Tensor, share: float) -> Tensor:
    dropped = weight.abs().flatten().argsort(stable=True)[: int(share * weight.numel())]
    kept = weight.flatten().clone()
    kept[dropped] = 0
    return kept.view_as(weight)


def _two_of_four(weight: Tensor) -> Tensor:
    whole = weight.shape[1] // 4 * 4
    fours = weight[:, :whole].reshape(-1, 4)
    dropped = fours.abs().argsort(stable=True, dim=-1)[:, :2]
    kept = fours.scatter(1, dropped, 0.0).view(len(weight), whole)
    return torch.cat((kept, weight[:, whole:]), 1)


def _remove_units(block: FeedForward, share: float) -> None:
    gate, up = block.gate_up.weight.chunk(2)
    down = block.down.weight
    measure = gate.norm(dim=1) * up.norm(dim=1) * down.norm(dim=0)
    kept = (
        measure.argsort(descending=True, stable=True)[: len(measure) - int(share * len(measure))]
        .sort()
        .values
    )
    block.gate_up = _linear(torch.cat((gate[kept], up[kept])))
    block.down = _linear(down[:, kept])


def _linear(weight: Tensor) -> nn.Linear:
    layer = nn.Linear(weight.shape[1], weight.shape[0], bias=False)
    layer.weight.copy_(weight)
    return layer
