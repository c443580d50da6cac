"""Really two values per byte."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.quantize.nibbles import pack, unpack


@given(st.integers(0, 5), st.integers(0, 5), st.integers(0, 40), st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_packing_is_undone_by_unpacking(rows: int, groups: int, half: int, seed: int) -> None:
    shape = (rows, groups, 2 * half)
    levels = torch.randint(0, 16, shape, generator=torch.Generator().manual_seed(seed), dtype=torch.uint8)
    packed = pack(levels)
    assert packed.dtype == torch.uint8
    assert packed.nbytes * 2 == levels.numel()
    assert torch.equal(unpack(packed), levels)


def test_every_pair_has_its_own_byte() -> None:
    first, second = torch.arange(16).repeat_interleave(16), torch.arange(16).repeat(16)
    packed = pack(torch.stack((first, second), -1))
    assert packed.unique().numel() == 256
    assert torch.equal(unpack(packed).long(), torch.stack((first, second), -1))


@pytest.mark.parametrize("levels", [[1, 2, 3], [0, 16], [-1, 0]])
def test_what_does_not_fit_is_refused(levels: list[int]) -> None:
    with pytest.raises(ValueError, match="levels"):
        pack(torch.tensor(levels))
