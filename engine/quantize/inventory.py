"""What a model consists of and how many bytes each part occupies, measured from the tensors."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from torch import Tensor, nn

from engine.quantize.linear import QuantizedLinear

REASONS = {
    "lookup": "rows are looked up, not multiplied",
    "vector": "a vector has no rows to share a scale",
    "shared": "the weight also serves another layer",
    "subclass": "a kind of linear layer whose weight others may read directly",
    "kept": "kept in fp32 on request",
    "table": "computed, not learned",
}
"""Why a layer was not quantized: the code, and what it means."""


class Part(msgspec.Struct, frozen=True):
    """One layer that holds numbers.

    `name` is empty for what the model itself holds. `shape` is (outputs, inputs) of a matrix.
    `bytes` are those of its buffers and parameters, scales included, and `fp32_bytes` what its
    numbers would occupy as float32. `reason` is a key of `REASONS` for a layer that was not
    quantized, else None.
    """

    name: str
    format: str
    shape: tuple[int, ...]
    bytes: int
    fp32_bytes: int
    reason: str | None = None


class Stored(msgspec.Struct, frozen=True):
    """Bytes of a model: its linear layers, everything else, and what the former were as float32."""

    linear: int
    other: int
    linear_fp32: int

    @property
    def total(self) -> int:
        """Bytes of the whole model."""
        return self.linear + self.other

    @property
    def linear_ratio(self) -> float:
        """Linear layers' bytes as a share of their float32 bytes."""
        return self.linear / self.linear_fp32 if self.linear_fp32 else 1.0


def inventory(model: nn.Module) -> list[Part]:
    """All parts of `model` that hold numbers, in its own order; memory that two share counts once."""
    seen: set[int] = set()
    return [
        _part(model, name, module, seen)
        for name, module in model.named_modules()
        if any(True for _ in own_tensors(module))
    ]


def stored(model: nn.Module) -> Stored:
    """Bytes of `model`, measured."""
    parts = inventory(model)
    linear = [part for part in parts if is_linear(model.get_submodule(part.name))]
    total = sum(part.bytes for part in parts)
    used = sum(part.bytes for part in linear)
    return Stored(used, total - used, sum(part.fp32_bytes for part in linear))


def is_linear(module: nn.Module) -> bool:
    """Whether `module` multiplies by a matrix, quantized or not."""
    return isinstance(module, nn.Linear | QuantizedLinear)


def own_tensors(module: nn.Module) -> Iterator[Tensor]:
    """Parameters and buffers of `module` itself, its children's left out."""
    yield from module.parameters(recurse=False)
    yield from module.buffers(recurse=False)


def reason_to_keep(model: nn.Module, module: nn.Module) -> str | None:
    """Why `module`, which is not quantized, cannot be: a key of `REASONS`, None if it could."""
    if isinstance(module, nn.Embedding):
        return "lookup"
    if not isinstance(module, nn.Linear):
        return "vector" if any(True for _ in module.parameters(recurse=False)) else "table"
    if type(module) is not nn.Linear:
        return "subclass"
    return "shared" if _owners(model, module.weight) > 1 else None


def _owners(model: nn.Module, weight: Tensor) -> int:
    return sum(any(own is weight for own in module.parameters(recurse=False)) for module in model.modules())


def _part(model: nn.Module, name: str, module: nn.Module, seen: set[int]) -> Part:
    used = _bytes(module, seen)
    if isinstance(module, QuantizedLinear):
        shape = (module.out_features, module.in_features)
        biases = 0 if module.bias is None else len(module.bias)
        return Part(name, module.format, shape, used, 4 * (shape[0] * shape[1] + biases))
    largest = max(own_tensors(module), key=lambda tensor: tensor.numel())
    reason = reason_to_keep(model, module) or "kept"
    numbers = sum(tensor.numel() for tensor in own_tensors(module))
    return Part(name, _type_name(largest), tuple(largest.shape), used, 4 * numbers, reason)


def _type_name(tensor: Tensor) -> str:
    name = str(tensor.dtype).removeprefix("torch.")
    return {"float32": "fp32", "bfloat16": "bf16", "float16": "fp16"}.get(name, name)


def _bytes(module: nn.Module, seen: set[int]) -> int:
    """Bytes of the memory behind the module's tensors: a small view of a large tensor counts fully."""
    total = 0
    for tensor in own_tensors(module):
        memory = tensor.untyped_storage()
        if memory.data_ptr() not in seen:
            seen.add(memory.data_ptr())
            total += memory.nbytes()
    return total
