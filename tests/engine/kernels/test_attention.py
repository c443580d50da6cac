"""Attention in tiles is attention: any shape, any tile, with and without the mask, against torch's own."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional

from engine.kernels.attention import tiled, whole

SIZES = st.integers(1, 40)


def drawn(heads: int, queries: int, keys: int, width: int, seed: int, size: float) -> list[Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [size * torch.randn(heads, length, width, generator=generator) for length in (queries, keys, keys)]


def mask(queries: int, keys: int) -> Tensor:
    """What torch calls a mask: True where a query may look; the last query sees all keys."""
    return torch.tensor([[key <= query + keys - queries for key in range(keys)] for query in range(queries)])


@settings(max_examples=150, deadline=None)
@given(
    st.integers(1, 3), SIZES, st.integers(0, 20), st.integers(1, 12), SIZES, SIZES, st.booleans(),
    st.integers(0, 1000), st.sampled_from([0.1, 1.0, 30.0]),
)  # fmt: skip
def test_both_ways_are_torchs(
    heads: int, queries: int, more: int, width: int, rows: int, columns: int, causal: bool, seed: int,
    size: float,
) -> None:  # fmt: skip
    data = drawn(heads, queries, queries + more, width, seed, size)
    allowed = mask(queries, queries + more) if causal else None
    right = functional.scaled_dot_product_attention(*data, attn_mask=allowed)  # type: ignore[misc]
    # scores of size² leave few bits for their difference: a softmax of large scores is less exact
    near = 2e-5 * max(1.0, size) ** 2
    torch.testing.assert_close(whole(*data, causal=causal), right, atol=near, rtol=1e-5)
    torch.testing.assert_close(
        tiled(*data, causal=causal, rows=rows, columns=columns), right, atol=near, rtol=1e-5
    )


def test_scores_that_would_overflow_without_their_maximum_do_not() -> None:
    """exp(500) is no float32: the running maximum is what keeps the sums finite, tile by tile."""
    data = drawn(1, 24, 24, 4, 0, 100.0)
    assert float((data[0] @ data[1].transpose(-1, -2)).max()) > 500
    found = tiled(*data, rows=5, columns=3)
    assert torch.isfinite(found).all()
    torch.testing.assert_close(found, whole(*data))


def test_a_token_does_not_see_the_future() -> None:
    queries, keys, values = drawn(1, 12, 12, 8, 1, 1.0)
    before = tiled(queries, keys, values, rows=5, columns=4)
    keys[:, 9:], values[:, 9:] = 1e3, 1e3
    after = tiled(queries, keys, values, rows=5, columns=4)
    assert torch.equal(before[:, :9], after[:, :9])
    assert not torch.equal(before[:, 9:], after[:, 9:])


@pytest.mark.parametrize(("rows", "columns"), [(0, 4), (4, 0), (-1, 4)])
def test_an_empty_tile_is_refused(rows: int, columns: int) -> None:
    data = drawn(1, 4, 4, 2, 0, 1.0)
    with pytest.raises(ValueError, match="at least 1 row and 1 column"):
        tiled(*data, rows=rows, columns=columns)
