"""Random weights of every awkward kind."""

from __future__ import annotations

import gc

import torch
from hypothesis import strategies
from torch import Tensor, nn

KINDS = ("normal", "zero rows", "one sign", "tiny", "huge", "one large", "sparse", "constant")


@strategies.composite
def weights(draw: strategies.DrawFn, largest: int = 70) -> Tensor:
    """A float32 matrix of up to `largest` outputs and inputs."""
    outputs = draw(strategies.integers(1, largest))
    inputs = draw(strategies.integers(1, largest))
    generator = torch.Generator().manual_seed(draw(strategies.integers(0, 10_000)))
    return spoiled(torch.randn(outputs, inputs, generator=generator), draw(strategies.sampled_from(KINDS)))


def spoiled(weight: Tensor, kind: str) -> Tensor:
    """`weight` made difficult in the way that `kind` says."""
    if kind == "zero rows":
        weight[::2] = 0
    elif kind == "one large":
        weight[0, 0] = 1e4
    elif kind == "sparse":
        weight[weight.abs() < 1] = 0
    factors = {"tiny": 1e-30, "huge": 1e36}
    return (
        weight.abs()
        if kind == "one sign"
        else weight.sign()
        if kind == "constant"
        else weight * factors.get(kind, 1)
    )


def linear(weight: Tensor, bias: Tensor | None = None) -> nn.Linear:
    """An `nn.Linear` with this weight."""
    layer = nn.Linear(weight.shape[1], weight.shape[0], bias=bias is not None)
    with torch.no_grad():
        layer.weight.copy_(weight)
        if bias is not None:
            layer.bias.copy_(bias)
    return layer


def float_tensors(sizes: set[int]) -> set[int]:
    """Identities of all living floating-point tensors that have one of these numbers of elements."""
    gc.collect()
    alive = [found for found in gc.get_objects() if type(found) in (Tensor, nn.Parameter)]
    return {id(found) for found in alive if found.is_floating_point() and found.numel() in sizes}
