"""GPTQ and AWQ: the same storage, levels chosen for the inputs that occur."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from engine.quantize import FORMATS, QuantizationError, quantize
from engine.quantize.calibration import calibration_windows, inputs_of, statistics_of
from engine.quantize.compensated import awq, compensated_layer, gptq
from engine.quantize.grid import FOUR_BIT, Rounded, in_groups, symmetric
from tests.engine.quantize.weights import KINDS, linear, spoiled


def rounded_to_nearest(weight: Tensor) -> Tensor:
    return values(symmetric(in_groups(weight, 32), FOUR_BIT, torch.bfloat16), weight)


def values(rounded: Rounded, weight: Tensor) -> Tensor:
    return rounded.values().flatten(1)[:, : weight.shape[1]]


def rows(count: int, inputs: int, seed: int) -> Tensor:
    """Inputs that depend on each other and of which some are much larger than others."""
    generator = torch.Generator().manual_seed(seed)
    mixed = torch.randn(count, inputs, generator=generator) @ torch.randn(inputs, inputs, generator=generator)
    return mixed * torch.logspace(-1, 1, inputs)[torch.randperm(inputs, generator=generator)]


def test_gptq_without_correlation_is_plain_rounding() -> None:
    weight = torch.randn(24, 96)
    assert torch.equal(values(gptq(weight, torch.eye(96), 32), weight), rounded_to_nearest(weight))


@given(st.integers(1, 40), st.integers(2, 90), st.integers(0, 99))
@settings(max_examples=25, deadline=None)
def test_gptq_levels_fit_the_storage(outputs: int, inputs: int, seed: int) -> None:
    weight = torch.randn(outputs, inputs, generator=torch.Generator().manual_seed(seed))
    statistics = statistics_of(rows(64, inputs, seed))
    layer = compensated_layer(linear(weight), FORMATS["int4-gptq"], statistics)
    assert layer.dequantized().shape == weight.shape
    assert layer.levels.nbytes == outputs * -(-inputs // 32) * 16


@pytest.mark.parametrize("seed", range(3))
def test_both_change_outputs_less_than_plain_rounding(seed: int) -> None:
    weight, statistics = torch.randn(48, 128), statistics_of(rows(512, 128, seed))
    nearest = statistics.output_error(rounded_to_nearest(weight) - weight)
    compensated = statistics.output_error(values(gptq(weight, statistics.gram, 32), weight) - weight)
    rounded, channel = awq(weight, statistics, 32)
    enlarged = statistics.output_error(values(rounded, weight) * channel - weight)
    assert compensated < 0.7 * nearest
    assert enlarged <= nearest


def test_output_error_is_the_mean_squared_change_of_outputs() -> None:
    inputs, change = rows(200, 16, 1), torch.randn(8, 16)
    expected = (inputs @ change.T).square().sum(1).mean()
    assert statistics_of(inputs).output_error(change) == pytest.approx(float(expected), rel=1e-4)


@pytest.mark.parametrize("method", ["int4-gptq", "int4-awq"])
@pytest.mark.parametrize("kind", KINDS)
def test_awkward_weights_and_silent_inputs(method: str, kind: str) -> None:
    inputs = rows(40, 50, 2)
    inputs[:, 7] = 0
    weight = spoiled(torch.randn(20, 50), kind)
    restored = compensated_layer(linear(weight), FORMATS[method], statistics_of(inputs)).dequantized()
    assert restored.isfinite().all()
    assert (restored - weight).norm() <= 0.6 * weight.norm()


@pytest.mark.parametrize("method", ["int4-gptq", "int4-awq"])
def test_inputs_that_are_not_finite_are_refused(method: str) -> None:
    model = nn.Sequential(nn.Linear(32, 32), nn.Linear(32, 32))
    with pytest.raises(QuantizationError, match="0: its inputs on the calibration text are not finite"):
        quantize(model, method, calibration=torch.full((1, 4, 32), torch.inf))


def test_a_layer_that_never_runs_is_named() -> None:
    class Idle(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.used, self.idle = nn.Linear(32, 32), nn.Linear(32, 32)

        def forward(self, inputs: Tensor) -> Tensor:
            return self.used(inputs)  # type: ignore[no-any-return]

    with pytest.raises(QuantizationError, match="idle: the model never runs this layer"):
        quantize(Idle(), "int4-gptq", calibration=torch.randn(1, 4, 32))


def test_layers_see_inputs_from_layers_already_quantized() -> None:
    model = nn.Sequential(nn.Linear(64, 64), nn.Linear(64, 64))
    text = torch.randn(2, 50, 64)
    small = quantize(model, "int4-gptq", calibration=text)
    assert not torch.equal(inputs_of(small, "1", text), inputs_of(model, "1", text))
    expected = gptq(model[1].weight.detach(), statistics_of(inputs_of(small, "1", text)).gram, 32)
    assert torch.equal(small[1].dequantized(), expected.values().flatten(1))


def test_calibration_text_is_spread_evenly() -> None:
    windows = calibration_windows(4, 32)
    assert windows.shape == (4, 32)
    assert torch.equal(windows, calibration_windows(4, 32))
    assert len({tuple(window.tolist()) for window in windows}) == 4
    assert windows.max() < 128
