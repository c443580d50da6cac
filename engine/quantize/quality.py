"""What fewer bits cost: per layer, per token, per text and per byte of held-out text.

Two comparisons that are easily confused are kept apart. *Teacher-forced*: both models read the
tokens that fp32 chose, so every difference of logits is one between equal contexts.
*Free-running*: the quantized model reads its own tokens; after the first differing one the two
texts have different contexts and token-by-token differences mean nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import torch
from torch import Tensor, nn
from torch.nn import functional

from engine.model.reference import generate
from engine.model.tokens import decode
from engine.model.transformer import Transformer
from engine.quantize.inventory import Part, inventory
from engine.quantize.linear import QuantizedLinear


class LayerError(msgspec.Struct, frozen=True):
    """What quantization changed in one layer.

    Both errors are relative Frobenius norms, |difference| / |original|: `weight_error` of the
    weight, `output_error` of the layer's output for the rows that fp32 gave it. None for a part that
    is as it was (`part.reason` says why) or has another shape.
    """

    part: Part
    weight_error: float | None = None
    output_error: float | None = None


class TokenDifference(msgspec.Struct, frozen=True):
    """How the logits for one token differ, both models having read the same tokens before it.

    `token` is what fp32 chose and `margin` how far its logit was from the second best; `chosen` is
    what the quantized model would choose. `largest` and `mean` are |Δlogit| over the vocabulary and
    `divergence` is KL(fp32 ‖ quantized) in nats.
    """

    token: int
    chosen: int
    margin: float
    largest: float
    mean: float
    divergence: float

    @property
    def changed(self) -> bool:
        """Whether the quantized model would choose another token."""
        return self.token != self.chosen


class FreeRun(msgspec.Struct, frozen=True):
    """What a model wrote by itself, and the index of its first token that fp32 did not write, if any."""

    tokens: list[int]
    text: str
    first_difference: int | None


@torch.no_grad()
def relative_error(approximate: Tensor, exact: Tensor) -> float:
    """|approximate - exact| / |exact| in the Frobenius norm; 0 where both are nothing, else inf."""
    exact = exact.double()
    difference, size = float((approximate.double() - exact).norm()), float(exact.norm())
    return difference / size if size else (0.0 if not difference else float("inf"))


@torch.no_grad()
def layer_errors(
    original: Transformer, quantized: Transformer, windows: Sequence[Tensor]
) -> list[LayerError]:
    """The errors of every part of `quantized`, outputs compared on the rows that `original` gives its
    layers while it reads `windows`, each (1, length)."""
    rows = _inputs(original, windows)
    return [_layer_error(part, original, quantized, rows) for part in inventory(quantized)]


def _inputs(model: nn.Module, windows: Sequence[Tensor]) -> dict[str, Tensor]:
    """The rows that each linear layer receives while `model` reads `windows`."""
    found: dict[str, list[Tensor]] = {}
    handles = [
        module.register_forward_pre_hook(
            lambda _, inputs, name=name: found.setdefault(name, []).append(inputs[0].flatten(0, -2))
        )
        for name, module in model.named_modules()
        if isinstance(module, nn.Linear)
    ]
    for window in windows:
        model(window)
    for handle in handles:
        handle.remove()
    return {name: torch.cat(parts) for name, parts in found.items()}


def _layer_error(part: Part, original: nn.Module, changed: nn.Module, rows: dict[str, Tensor]) -> LayerError:
    layer, before = changed.get_submodule(part.name), original.get_submodule(part.name)
    if not isinstance(before, nn.Linear) or not _comparable(layer, before):
        return LayerError(part)
    inputs = rows[part.name]
    weight = relative_error(weight_of(layer), before.weight)
    return LayerError(part, weight, relative_error(layer(inputs), before(inputs)))


def _comparable(layer: nn.Module, before: nn.Linear) -> bool:
    """Whether `layer` does the same as `before` with a changed weight."""
    if isinstance(layer, QuantizedLinear):
        return True
    same_shape = isinstance(layer, nn.Linear) and layer.weight.shape == before.weight.shape
    return same_shape and not torch.equal(weight_of(layer), before.weight)


def weight_of(layer: nn.Module) -> Tensor:
    """The weight (outputs, inputs) of a linear layer, written out if it is quantized."""
    weight = layer.dequantized() if isinstance(layer, QuantizedLinear) else layer.weight
    assert isinstance(weight, Tensor)
    return weight


@torch.inference_mode()
def forced_logits(model: Transformer, prompt: Sequence[int], tokens: Sequence[int]) -> Tensor:
    """Logits (tokens, vocabulary) from which each of `tokens` is chosen when the ones before it are given."""
    window = torch.tensor([[*prompt, *tokens[:-1]]])
    logits: Tensor = model(window)[0, len(prompt) - 1 :]
    return logits


def token_differences(original: Tensor, quantized: Tensor) -> list[TokenDifference]:
    """Row by row, of two teacher-forced logits (tokens, vocabulary)."""
    distance = (quantized - original).abs()
    divergence = _divergence(original, quantized)
    best = original.topk(2).values
    columns = (
        original.argmax(-1),
        quantized.argmax(-1),
        best[:, 0] - best[:, 1],
        distance.amax(-1),
        distance.mean(-1),
        divergence,
    )
    return [TokenDifference(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def _divergence(original: Tensor, quantized: Tensor) -> Tensor:
    """KL(original ‖ quantized) per row, in nats, computed in float64 because it is a small difference."""
    first, second = (functional.log_softmax(logits.double(), -1) for logits in (original, quantized))
    return (first.exp() * (first - second)).sum(-1).clamp_min(0)


def free_run(model: Transformer, prompt: Sequence[int], tokens: Sequence[int]) -> FreeRun:
    """Let `model` continue `prompt` by as many tokens as fp32's `tokens`, and compare."""
    written = generate(model, prompt, len(tokens)).tokens
    different = (place for place, pair in enumerate(zip(written, tokens, strict=True)) if pair[0] != pair[1])
    return FreeRun(written, decode(written), next(different, None))
