"""The rounding rules: zero stays zero, both signs are alike, no value is off by more than half a step."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from engine.quantize.errors import QuantizationError
from engine.quantize.grid import EIGHT_BIT, FOUR_BIT, asymmetric, check_weight, in_groups, symmetric
from tests.engine.quantize.weights import weights

HALF_STEP = 0.5 + 2**-6
"""Half a step, and what a level near the end of the range loses because the scale is stored in bfloat16."""

LADDER = torch.tensor([[-1.0, -0.5, 0.0, 0.5, 1.0]])


@pytest.mark.parametrize("limit", [EIGHT_BIT, FOUR_BIT])
def test_symmetric_range_keeps_zero_and_the_ends(limit: int) -> None:
    rounded = symmetric(LADDER, limit)
    assert rounded.levels.tolist()[0][::2] == [-limit, 0, limit]
    values = rounded.values()[0]
    assert values[2] == 0.0
    assert torch.equal(values, -values.flip(0))
    assert values[4].item() == pytest.approx(1.0, rel=1e-6)


def test_unsigned_range_has_its_zero_where_zero_is() -> None:
    rounded = asymmetric(LADDER)
    assert rounded.zero is not None
    assert rounded.levels[0, 2] == rounded.zero[0]
    assert rounded.values()[0, 2] == 0.0


@given(weights(), st.sampled_from([EIGHT_BIT, FOUR_BIT]), st.sampled_from([torch.float32, torch.bfloat16]))
@settings(max_examples=60, deadline=None)
def test_symmetric_rounding(weight: Tensor, limit: int, scale_type: torch.dtype) -> None:
    rounded = symmetric(weight, limit, scale_type)
    assert rounded.levels.abs().max() <= limit
    assert rounded.scale.dtype == scale_type
    assert_near(rounded.values(), weight, rounded.scale)
    assert torch.equal(symmetric(-weight, limit, scale_type).levels, -rounded.levels)
    assert not rounded.values()[weight == 0].any()


@given(weights(), st.sampled_from([torch.float32, torch.bfloat16]))
@settings(max_examples=60, deadline=None)
def test_asymmetric_rounding(weight: Tensor, scale_type: torch.dtype) -> None:
    rounded = asymmetric(weight, scale_type)
    assert 0 <= int(rounded.levels.min()) <= int(rounded.levels.max()) <= 15
    assert not rounded.values()[weight == 0].any()
    # Zero is itself rounded to a level, which may move the ends by another half step.
    assert_near(rounded.values(), weight, rounded.scale, steps=1 + 2**-4)


def test_a_group_of_one_sign_uses_all_levels_of_an_asymmetric_grid() -> None:
    positive = torch.linspace(0, 3, 64)[None]
    assert asymmetric(positive).levels.unique().numel() == 16
    assert symmetric(positive, FOUR_BIT).levels.unique().numel() == 8
    assert asymmetric(-positive).zero == 15


def test_a_row_of_zeros_is_zero() -> None:
    for rounded in (symmetric(torch.zeros(2, 8), EIGHT_BIT), asymmetric(torch.zeros(2, 8))):
        assert rounded.scale.isfinite().all()
        assert not rounded.values().any()


@given(weights(), st.sampled_from([2, 32, 64]))
@settings(max_examples=30, deadline=None)
def test_groups_are_filled_with_zeros(weight: Tensor, group: int) -> None:
    groups = in_groups(weight, group)
    flat = groups.flatten(1)
    assert groups.shape[2] == group
    assert flat.shape[1] - weight.shape[1] < group
    assert torch.equal(flat[:, : weight.shape[1]], weight)
    assert not flat[:, weight.shape[1] :].any()


@pytest.mark.parametrize(
    ("value", "words"),
    [(float("nan"), "nan"), (float("inf"), "inf"), (-float("inf"), "-inf"), (3e38, r"beyond ±1e\+38")],
)
def test_what_cannot_be_rounded_is_refused_by_name_and_place(value: float, words: str) -> None:
    weight = torch.zeros(3, 5)
    weight[2, 4] = value
    with pytest.raises(QuantizationError, match=rf"blocks\.0\.head: 1 of 15 .* row 2, column 4.*|{words}"):
        check_weight(weight, "blocks.0.head")


def test_an_empty_or_whole_numbered_weight_is_refused() -> None:
    with pytest.raises(QuantizationError, match="head: a weight of shape"):
        check_weight(torch.zeros(0, 5), "head")
    with pytest.raises(QuantizationError, match=r"head: the weight is torch\.int32"):
        check_weight(torch.zeros(2, 2, dtype=torch.int32), "head")


def assert_near(values: Tensor, weight: Tensor, scale: Tensor, steps: float = HALF_STEP) -> None:
    """No value is further away than `steps` steps of its own group."""
    assert values.isfinite().all()
    distance = (values.double() - weight.double()).abs() / scale.double().unsqueeze(-1)
    assert distance.max() <= steps
