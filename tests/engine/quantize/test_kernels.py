"""Products in tiles, and the guards of the packed kernels."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional

from engine.quantize import kernels


@given(st.integers(0, 20), st.integers(1, 40), st.integers(1, 40), st.sampled_from([1, 3, 8]))
@settings(max_examples=60, deadline=None)
def test_a_product_in_tiles_is_a_product(rows: int, outputs: int, inputs: int, tile: int) -> None:
    generator = torch.Generator().manual_seed(rows)
    left, weight = (
        torch.randn(rows, inputs, generator=generator),
        torch.randn(outputs, inputs, generator=generator),
    )
    torch.testing.assert_close(kernels.product(left, weight, tile), functional.linear(left, weight))


@given(st.integers(1, 50), st.integers(1, 50))
@settings(max_examples=40, deadline=None)
def test_a_safe_tile_is_the_usual_one_or_a_single_row(outputs: int, inputs: int) -> None:
    assert kernels.safe_tile(torch.randn(outputs, inputs)) in (1, kernels.TILE)


@pytest.mark.parametrize("inputs", [1, 15, 33, 36, 100])
def test_int8_inputs_that_are_no_whole_step_are_turned_away(inputs: int) -> None:
    assert not kernels.suits_int8(torch.zeros(16, inputs, dtype=torch.int8))


def test_int8_levels_must_lie_in_one_piece_and_be_int8() -> None:
    assert not kernels.suits_int8(torch.zeros(64, 32, dtype=torch.int8).T)
    assert not kernels.suits_int8(torch.zeros(16, 32, dtype=torch.uint8))
    assert not kernels.suits_int8(torch.zeros(16, 32, dtype=torch.int8, device="meta"))


@pytest.mark.parametrize(
    ("outputs", "inputs", "group"), [(17, 64, 32), (16, 48, 32), (16, 64, 16), (8, 32, 32)]
)
def test_int4_shapes_that_do_not_fit_are_turned_away(outputs: int, inputs: int, group: int) -> None:
    assert not kernels.suits_int4(outputs, inputs, group, torch.device("cpu"))


def test_a_kernel_that_is_wrong_or_missing_is_not_trusted() -> None:
    def missing() -> torch.Tensor:
        raise NotImplementedError

    expected = torch.ones(2, 2)
    assert kernels._agrees(lambda: expected * 1.001, expected)
    assert not kernels._agrees(lambda: expected * 1.1, expected)
    assert not kernels._agrees(missing, expected)


def test_this_machine_has_both_kernels() -> None:
    if torch.backends.cpu.get_cpu_capability() in kernels.PACKED_ROWS:
        assert kernels.suits_int8(torch.zeros(16, 32, dtype=torch.int8))
        assert kernels.suits_int4(16, 32, 32, torch.device("cpu"))


def test_levels_are_read_back_from_the_kernels_own_order() -> None:
    stored = torch.randint(1, 16, (48, 320))
    layout = kernels.int4_layout(stored)
    assert layout.nbytes == stored.numel() // 2
    assert torch.equal(kernels.int4_levels(layout, 320, 32).long(), stored - 8)
