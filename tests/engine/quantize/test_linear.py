"""Quantized layers keep the contract of nn.Linear, hold no float copy, and can be row-invariant."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional

from engine.quantize import (
    FORMATS,
    Int4Linear,
    Int8Linear,
    PackedInt4Linear,
    QuantizationError,
    QuantizedLinear,
)
from engine.quantize.convert import nearest
from tests.engine.quantize.weights import float_tensors, linear, weights

NEAREST = [name for name, known in FORMATS.items() if name != "fp32" and not known.calibrated]


def layer(
    weight: Tensor, format: str, kernel: str = "float32", bias: Tensor | None = None
) -> QuantizedLinear:
    return nearest(linear(weight, bias), "layer", FORMATS[format], kernel)


@given(weights(), st.sampled_from(NEAREST), st.integers(1, 9), st.booleans())
@settings(max_examples=120, deadline=None)
def test_a_product_is_that_of_the_dequantized_weight(
    weight: Tensor, format: str, rows: int, biased: bool
) -> None:
    bias = torch.arange(len(weight), dtype=torch.float32) if biased else None
    quantized = layer(weight, format, bias=bias)
    inputs = torch.randn(2, rows, weight.shape[1], generator=torch.Generator().manual_seed(rows))
    expected = functional.linear(
        inputs.double(), quantized.dequantized().double(), bias.double() if bias is not None else None
    )
    result = quantized(inputs)
    assert result.shape == (2, rows, len(weight))
    assert result.dtype == torch.float32
    size = product_size(inputs, weight) + (float(bias.max()) if bias is not None else 0)
    assert (result.double() - expected).abs().max() <= 1e-5 * size + 1e-37


@given(weights(), st.sampled_from(NEAREST))
@settings(max_examples=60, deadline=None)
def test_a_weight_comes_back_within_a_step(weight: Tensor, format: str) -> None:
    restored = layer(weight, format).dequantized()
    known = FORMATS[format]
    steps = 127 if known.bits == 8 else 7 if known.symmetric else 7.5
    # bfloat16 scales, and asymmetric zeros that are themselves rounded, cost up to another half step.
    assert restored.shape == weight.shape
    assert ((restored - weight).abs() <= 1.05 * weight.abs().amax(-1, keepdim=True) / steps + 1e-37).all()
    assert not restored[weight == 0].any()


@given(weights(), st.sampled_from(NEAREST), st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_exact_rows_do_not_know_their_neighbours(weight: Tensor, format: str, seed: int) -> None:
    quantized = layer(weight, format)
    quantized.set_exact(True)
    assert_row_invariant(quantized, seed)


@pytest.mark.parametrize("shape", [(16, 64), (48, 64), (128, 384), (768, 128)])
@pytest.mark.parametrize("format", ["int8", "int4", "int4-g64"])
@pytest.mark.parametrize("kernel", ["float32", "packed"])
def test_exact_rows_of_real_shapes(shape: tuple[int, int], format: str, kernel: str) -> None:
    quantized = layer(torch.randn(shape), format, kernel)
    quantized.set_exact(True)
    assert_row_invariant(quantized, 1)


def assert_row_invariant(quantized: QuantizedLinear, seed: int) -> None:
    """Alone, among 1 to 33 rows, at another place, beside huge numbers: always the same bits."""
    generator = torch.Generator().manual_seed(seed)
    inputs = torch.randn(33, quantized.in_features, generator=generator)
    alone = torch.cat([quantized(row[None]) for row in inputs])
    for count in range(1, 34):
        assert torch.equal(quantized(inputs[:count]), alone[:count])
    assert torch.equal(quantized(inputs.flip(0)).flip(0), alone)
    inputs[1:] *= 1e6
    assert torch.equal(quantized(inputs)[0], alone[0])


@given(st.integers(1, 6), st.integers(1, 5), st.integers(1, 40), st.booleans(), st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_packed_kernels_agree_with_the_dequantized_weight(
    blocks: int, steps: int, rows: int, eight: bool, seed: int
) -> None:
    generator = torch.Generator().manual_seed(seed)
    weight = torch.randn(16 * blocks, 32 * steps, generator=generator)
    bias = torch.randn(16 * blocks, generator=generator)
    quantized = layer(weight, "int8" if eight else "int4", "packed", bias)
    assert quantized.packed if isinstance(quantized, Int8Linear) else isinstance(quantized, PackedInt4Linear)
    inputs = torch.randn(rows, 32 * steps, generator=generator)
    expected = functional.linear(inputs, quantized.dequantized(), bias)
    size = inputs.norm(dim=-1, keepdim=True) * weight.norm(dim=-1).max()
    assert ((quantized(inputs) - expected).abs() <= 2**-7 * size).all()


@given(weights(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_a_shape_that_would_crash_a_packed_kernel_never_reaches_it(weight: Tensor, eight: bool) -> None:
    quantized = layer(weight, "int8" if eight else "int4", "packed")
    inputs = torch.randn(3, weight.shape[1], generator=torch.Generator().manual_seed(0))
    size = product_size(inputs, weight)
    expected = functional.linear(inputs.double(), quantized.dequantized().double())
    assert (quantized(inputs) - expected).abs().max() <= 2**-7 * size + 1e-37


@pytest.mark.parametrize("format", ["int8", "int4"])
def test_packed_kernels_take_views_at_odd_places(format: str) -> None:
    quantized = layer(torch.randn(32, 64), format, "packed")
    quantized.set_exact(True)
    inputs = torch.randn(3 * 64 + 1)[1:].view(3, 64)
    columns = torch.randn(64, 3).T
    for view in (inputs, columns, torch.randn(3, 128)[:, ::2]):
        assert torch.equal(quantized(view), quantized(view.contiguous().clone()))


def test_packed_int4_holds_the_same_numbers() -> None:
    weight = torch.randn(80, 160)
    plain, packed = layer(weight, "int4"), layer(weight, "int4", "packed")
    assert isinstance(packed, PackedInt4Linear)
    assert torch.equal(plain.dequantized(), packed.dequantized())


@pytest.mark.parametrize("shape", [(128, 384), (96, 64)])
def test_bytes_per_weight(shape: tuple[int, int]) -> None:
    outputs, inputs = shape
    eight, four = layer(torch.randn(shape), "int8"), layer(torch.randn(shape), "int4")
    assert isinstance(eight, Int8Linear)
    assert isinstance(four, Int4Linear)
    assert buffer_bytes(eight) == outputs * inputs + 4 * outputs
    assert four.levels.nbytes == outputs * inputs // 2
    assert buffer_bytes(four) == outputs * inputs // 2 + 2 * outputs * inputs // 32


def test_a_float_copy_would_be_found() -> None:
    before = float_tensors({112 * 128})
    copy = torch.randn(112, 128)
    assert float_tensors({112 * 128}) - before == {id(copy)}


def test_no_float_copy_of_the_weight_outlives_a_call() -> None:
    before = float_tensors({112 * 128})
    weight = torch.randn(112, 128)
    layers = [layer(weight, format, kernel) for format in NEAREST for kernel in ("float32", "packed")]
    for quantized in layers:
        quantized(weight[:5])
        quantized.set_exact(True)
        quantized(weight[:5])
        assert not list(quantized.parameters())
    del weight
    assert float_tensors({112 * 128}) == before


@pytest.mark.parametrize("format", ["int8", "int4"])
@pytest.mark.parametrize("kernel", ["float32", "packed"])
def test_contract_of_a_linear_layer(format: str, kernel: str) -> None:
    quantized = layer(torch.randn(16, 32), format, kernel)
    assert quantized(torch.randn(32)).shape == (16,)
    assert quantized(torch.randn(2, 3, 4, 32)).shape == (2, 3, 4, 16)
    assert quantized(torch.randn(0, 32)).shape == (0, 16)
    with pytest.raises(RuntimeError, match="rows of 32 float32 numbers"):
        quantized(torch.randn(2, 64))
    with pytest.raises(RuntimeError, match=r"torch\.float64"):
        quantized(torch.randn(2, 32, dtype=torch.float64))
    assert "in_features=32, out_features=16" in repr(quantized)


@pytest.mark.parametrize("format", ["int8", "int4", "int4-asymmetric"])
def test_a_layer_survives_its_state_dict(format: str) -> None:
    quantized, other = layer(torch.randn(16, 40), format), layer(torch.randn(16, 40), format)
    other.load_state_dict(quantized.state_dict())
    assert torch.equal(other.dequantized(), quantized.dequantized())


@pytest.mark.parametrize("format", NEAREST)
def test_a_bad_weight_is_refused_by_name(format: str) -> None:
    weight = torch.zeros(4, 40)
    weight[1, 33] = torch.inf
    with pytest.raises(
        QuantizationError, match="layer: 1 of 160 weights are not finite, the first at row 1, column 33"
    ):
        layer(weight, format)


def product_size(inputs: Tensor, weight: Tensor) -> float:
    """How large a product of a row of `inputs` and one of `weight` can be."""
    return float(inputs.double().norm(dim=-1).max() * weight.double().norm(dim=-1).max())


def buffer_bytes(module: nn.Module) -> int:
    return sum(buffer.untyped_storage().nbytes() for buffer in module.buffers())
