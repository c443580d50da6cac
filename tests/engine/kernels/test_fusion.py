"""Fused chains give what the passes give, in less memory; the bytes are counted as they are said to be."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional

from engine.kernels import fusion
from engine.kernels.attention import tiled, whole
from engine.kernels.memory import peak_bytes
from engine.kernels.traffic import (
    norm_product_bytes,
    swiglu_bytes,
    tile_bytes,
    tiled_bytes,
    whole_bytes,
)

ROWS, WIDTH = st.integers(1, 70), st.integers(1, 24)


@settings(max_examples=60, deadline=None)
@given(ROWS, WIDTH, st.integers(1, 80))
def test_swiglu_is_torchs(rows: int, width: int, chunk: int) -> None:
    gate, up = torch.randn(2, rows, width)
    right = functional.silu(gate) * up
    torch.testing.assert_close(fusion.swiglu_unfused(gate, up), right)
    torch.testing.assert_close(fusion.swiglu_fused(gate, up, chunk), right)


@settings(max_examples=60, deadline=None)
@given(ROWS, WIDTH, WIDTH, st.integers(1, 80))
def test_norm_and_product_are_torchs(rows: int, width: int, outputs: int, chunk: int) -> None:
    hidden, scale, matrix = torch.randn(rows, width), torch.rand(width), torch.randn(outputs, width)
    right = functional.rms_norm(hidden, (width,), scale, 1e-5) @ matrix.T
    near = {"atol": 1e-4, "rtol": 1e-4}
    torch.testing.assert_close(fusion.norm_product_unfused(hidden, scale, matrix), right, **near)
    torch.testing.assert_close(fusion.norm_product_fused(hidden, scale, matrix, rows=chunk), right, **near)


def test_an_empty_chunk_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1 row"):
        fusion.swiglu_fused(torch.ones(2, 2), torch.ones(2, 2), 0)


# ---- memory, measured --------------------------------------------------------------------------


def test_memory_counts_what_lives_at_the_same_time() -> None:
    size = 4 * 1000
    start = torch.ones(1000)
    assert peak_bytes(lambda: start + 1) == size
    assert peak_bytes(lambda: (start + 1) + 1) == 2 * size  # the first sum lives until the second is there
    assert peak_bytes(lambda: start.add(1).add_(1).mul_(2)) == size
    assert peak_bytes(lambda: [start + 1, start + 2]) == 2 * size
    assert peak_bytes(lambda: start.view(10, 100)[3:]) == 0


def test_a_view_keeps_its_memory_in_the_books() -> None:
    start = torch.ones(1000)

    def work() -> None:
        kept = (start + 1)[:1]  # 4 bytes are looked at, 4000 are held
        start.add(2)
        del kept

    assert peak_bytes(work) == 2 * 4000


def test_tiles_need_no_matrix() -> None:
    length, width = 256, 16
    data = torch.randn(3, 1, length, width)
    scores, output = 4 * length * length, 4 * length * width
    assert peak_bytes(lambda: whole(*data, causal=False)) >= 2 * scores
    small = peak_bytes(lambda: tiled(*data, causal=False, rows=16, columns=16))
    assert output <= small < output + 20 * tile_bytes(width, 16, 16) < scores


def test_fusing_makes_nothing_but_the_result() -> None:
    gate, up = torch.randn(2, 128, 64)
    result = 4 * 128 * 64
    assert peak_bytes(lambda: fusion.swiglu_unfused(gate, up)) == 3 * result
    assert peak_bytes(lambda: fusion.swiglu_fused(gate, up, 16)) == result


# ---- bytes, computed ---------------------------------------------------------------------------


def test_bytes_of_attention_by_hand() -> None:
    """4 tokens of 2 numbers: 4 · 4 · 2 numbers in and out; the 16 scores go by four times."""
    assert whole_bytes(4, 2, cache=0) == 4 * (32 + 64)
    assert whole_bytes(4, 2, cache=64) == 4 * 32
    assert tiled_bytes(4, 2, rows=2, cache=0) == 4 * (16 + 2 * 16)
    assert tiled_bytes(5, 2, rows=2, cache=0) == 4 * (20 + 3 * 20)
    assert tiled_bytes(4, 2, rows=2, cache=64) == 4 * 32
    assert tile_bytes(2, 3, 4) == 4 * (12 + 16 + 12)


@given(st.integers(1, 5000), st.integers(1, 128), st.integers(1, 512), st.integers(0, 2**21))
def test_tiles_never_move_less_than_what_goes_in_and_out(
    length: int, width: int, rows: int, cache: int
) -> None:
    least = 4 * 4 * length * width
    assert least <= tiled_bytes(length, width, rows, cache)
    assert least <= whole_bytes(length, width, cache)
    if rows >= 2 * width:  # a tile has to hold more rows than a row of scores is worth numbers
        assert tiled_bytes(length, width, rows, cache) <= max(
            whole_bytes(length, width, 0), least + 8 * length * width
        )


def test_bytes_of_chains_by_hand() -> None:
    assert swiglu_bytes(2, 3, fused=False) == 4 * 8 * 6
    assert swiglu_bytes(2, 3, fused=True) == 4 * 3 * 6
    assert norm_product_bytes(2, 3, 5, fused=False) == 4 * (8 * 6 + 15 + 10)
    assert norm_product_bytes(2, 3, 5, fused=True) == 4 * (6 + 15 + 10)
