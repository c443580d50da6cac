"""Index tensors of a tick: what is read was written, and bad chunks are named."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from engine.model.config import ModelConfig
from engine.model.layout import Chunk, check_chunks, lay_out

CONFIG = ModelConfig(vocabulary=16, width=8, query_heads=4, kv_heads=2, head_dim=2, hidden=8, context=40)

chunk_lists = st.lists(st.tuples(st.integers(1, 12), st.integers(0, 20)), min_size=1, max_size=6)


@given(chunk_lists, st.integers(1, 7), st.randoms(use_true_random=False), st.sampled_from([None, 40]))
def test_only_positions_before_the_end_are_read(spans, page_size, source, context) -> None:  # type: ignore[no-untyped-def]
    needed = [-(-(start + length) // page_size) for length, start in spans]
    pages = list(range(sum(needed)))
    source.shuffle(pages)
    chunks = [
        Chunk([1] * length, start, [pages.pop() for _ in range(count)])
        for (length, start), count in zip(spans, needed, strict=True)
    ]
    written = {
        chunk.block_table[at // page_size] * page_size + at % page_size
        for chunk in chunks
        for at in range(chunk.end)
    }
    layout = lay_out(chunks, CONFIG, page_size, context=context)
    assert {slot for group in layout.groups for slot in group.read.tolist()} <= written
    assert (
        len(layout.write) == len(layout.tokens) == len(layout.positions) == sum(len(c.tokens) for c in chunks)
    )
    assert len(set(layout.write.tolist())) == len(layout.write)
    assert set(layout.write.tolist()) <= written


def test_chunks_of_equal_length_share_a_group_and_a_mask_hides_what_is_later() -> None:
    layout = lay_out([Chunk([1, 2], 1, [0]), Chunk([3], 2, [1]), Chunk([4], 0, [2])], CONFIG, page_size=4)
    single, double = layout.groups
    assert (single.rows, single.chunks) == (slice(0, 2), 2)
    assert (double.rows, double.chunks) == (slice(2, 4), 1)
    assert layout.wanted.tolist() == [3, 0, 1]
    assert single.read.tolist() == [4, 5, 6, 8, 8, 8]
    assert single.mask.shape == (CONFIG.kv_heads * 2, 2, 3)
    hidden = float("-inf")
    assert torch.equal(single.mask[0], torch.zeros(2, 3))
    assert single.mask[1].tolist() == [[0, hidden, hidden]] * 2
    assert double.mask[0].tolist() == [[0, 0, hidden], [0, 0, 0]] * 2


def test_every_row_is_wanted_in_the_order_of_the_chunks() -> None:
    layout = lay_out([Chunk([1, 2], 0, [0]), Chunk([3], 0, [1])], CONFIG, page_size=4, every_row=True)
    assert layout.wanted.tolist() == [1, 2, 0]
    assert layout.tokens[layout.wanted].tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("chunk", "message"),
    [
        (Chunk([], 0, [0]), "has no tokens"),
        (Chunk([1], -1, [0]), "not within the context of 40"),
        (Chunk([1, 1], 39, [0] * 40), "positions 39 to 40 are not within"),
        (Chunk([1] * 5, 0, [0]), "1 pages of 4 hold no 5 tokens"),
        (Chunk([1], 0, []), "0 pages of 4 hold no 1 tokens"),
        (Chunk([1], 0, [3]), "not among the 3 pages"),
        (Chunk([1], 0, [-1]), "not among the 3 pages"),
        (Chunk([16], 0, [0]), "not among the 16 of the vocabulary"),
        (Chunk([-1], 0, [0]), "not among the 16 of the vocabulary"),
    ],
)
def test_a_chunk_that_does_not_fit_is_named(chunk: Chunk, message: str) -> None:
    with pytest.raises(ValueError, match=f"chunk 1: .*{message}"):
        check_chunks([Chunk([1], 0, [0]), chunk], CONFIG, pages=3, page_size=4)
