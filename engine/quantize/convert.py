"""From a model with float weights to a new one with quantized layers."""

from __future__ import annotations

import copy
from collections.abc import Collection
from typing import TypeVar

from torch import nn

from engine.quantize import kernels
from engine.quantize.calibration import Windows, calibration_windows
from engine.quantize.compensated import compensate
from engine.quantize.errors import QuantizationError
from engine.quantize.formats import Format, parse_format
from engine.quantize.inventory import reason_to_keep
from engine.quantize.linear import Int4Linear, Int8Linear, PackedInt4Linear, QuantizedLinear

Model = TypeVar("Model", bound=nn.Module)

KERNELS = ("auto", "float32", "packed")


def quantize(
    model: Model,
    format: str = "int8",
    *,
    keep: Collection[str] = (),
    kernel: str = "auto",
    calibration: Windows | None = None,
) -> Model:
    """A new model whose linear layers are stored in `format` (see `formats.FORMATS`).

    `model` is not changed and shares no memory with the result. Layers named in `keep`, and those
    that cannot be exchanged, stay as they are; `inventory` lists them with the reason. `kernel` is
    `float32`, `packed` wherever torch's kernel fits, or `auto`: packed where it is faster
    (`kernels.worth_packing`), for which no layer of the trained model is large enough.
    `calibration` (windows, length) are tokens for the formats that look at text, by default from
    the excerpt beside the weights.

    Raises `QuantizationError`, naming the layer, for a weight that cannot be quantized, and for
    an unknown format, kernel or layer.
    """
    wanted = parse_format(format)
    _check(model, keep, kernel)
    names = [name for name, module in model.named_modules() if _exchanged(model, name, module, keep)]
    if wanted.name == "fp32":
        return copy.deepcopy(model)
    if wanted.calibrated:
        windows = calibration_windows() if calibration is None else calibration
        return compensate(copy.deepcopy(model), names, wanted, windows)
    return _exchange(model, names, wanted, kernel)


def set_exact(model: nn.Module, exact: bool = True) -> None:
    """Make every quantized layer of `model` row-invariant, or let it be fast again.

    Row-invariant means: for any number of rows, a row's result is the same to the last bit
    whatever the other rows are.
    """
    for module in model.modules():
        if isinstance(module, QuantizedLinear):
            module.set_exact(exact)


def _check(model: nn.Module, keep: Collection[str], kernel: str) -> None:
    if kernel not in KERNELS:
        raise QuantizationError(f"kernel: {kernel!r} is not one of {', '.join(KERNELS)}")
    for name in sorted(set(keep) - {name for name, _ in model.named_modules()}):
        raise QuantizationError(f"keep: the model has no layer {name!r}")


def _exchanged(model: nn.Module, name: str, module: nn.Module, keep: Collection[str]) -> bool:
    return isinstance(module, nn.Linear) and name not in keep and reason_to_keep(model, module) is None


def _exchange(model: Model, names: Collection[str], wanted: Format, kernel: str) -> Model:
    """Copy `model`, putting a quantized layer wherever the copy would reach one of `names`.

    The replaced layers are never copied, so at no time do two float copies of a weight exist.
    """
    memory: dict[int, object] = {}
    for name in names:
        linear = model.get_submodule(name)
        assert isinstance(linear, nn.Linear)
        memory[id(linear)] = nearest(linear, name or "linear", wanted, kernel)
    return copy.deepcopy(model, memory)


def nearest(linear: nn.Linear, layer: str, wanted: Format, kernel: str = "auto") -> QuantizedLinear:
    """`linear` rounded to the nearest levels of `wanted`. Raises `QuantizationError` naming `layer`."""
    packed = kernel == "packed" or (kernel == "auto" and kernels.worth_packing(linear.weight.numel()))
    if wanted.bits == 8:
        return _int8(linear, layer, packed)
    assert wanted.group is not None
    return _int4(linear, layer, wanted, packed)


def _int8(linear: nn.Linear, layer: str, packed: bool) -> Int8Linear:
    result = Int8Linear.from_linear(linear, layer)
    result.packed = packed and kernels.suits_int8(result.levels)
    return result


def _int4(linear: nn.Linear, layer: str, wanted: Format, packed: bool) -> QuantizedLinear:
    assert wanted.group is not None
    result = Int4Linear.from_linear(linear, layer, group=wanted.group, symmetric_grid=wanted.symmetric)
    result.format = wanted.name
    return PackedInt4Linear(result) if packed and PackedInt4Linear.suits(result) else result
