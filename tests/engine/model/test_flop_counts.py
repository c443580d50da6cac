"""The formula against torch's counter on a model of explicit matrix products."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode

from engine.model.cache import PagedKVCache
from engine.model.config import TINY, ModelConfig
from engine.model.flops import attention_flops, forward_flops, head_flops, linear_flops, recompute_flops
from engine.model.layout import Chunk
from engine.model.paged import forward
from engine.model.transformer import Transformer, build

CONFIG = ModelConfig(
    vocabulary=11, width=12, layers=2, query_heads=4, kv_heads=2, head_dim=6, hidden=10, context=64
)


def explicit(model: Transformer, start: int, end: int) -> None:
    """The matrix products of one request's positions `start` to `end` - 1 and one row of logits,
    each token against its own keys only, on operands of the right shapes."""
    config = model.config
    for block, _ in itertools.product(model.blocks, range(start, end)):
        block.attention.qkv(torch.ones(1, config.width))
        block.attention.output(torch.ones(1, config.query_width))
        block.mlp.gate_up(torch.ones(1, config.width))
        block.mlp.down(torch.ones(1, config.hidden))
    for _, position in itertools.product(model.blocks, range(start, end)):
        for _ in range(config.query_heads):
            torch.ones(1, config.head_dim) @ torch.ones(config.head_dim, position + 1)
            torch.ones(1, position + 1) @ torch.ones(position + 1, config.head_dim)
    model.head(torch.ones(1, config.width))


def counted(model: Transformer, spans: Sequence[tuple[int, int]]) -> int:
    with FlopCounterMode(display=False) as counter:
        for start, end in spans:
            explicit(model, start, end)
    return counter.get_total_flops()


@settings(deadline=None, max_examples=15)
@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 6)), min_size=1, max_size=3))
def test_the_formula_equals_torchs_count(spans: list[tuple[int, int]]) -> None:
    chunks = [Chunk([0] * length, start, ()) for start, length in spans]
    ranges = [(start, start + length) for start, length in spans]
    assert forward_flops(CONFIG, chunks) == counted(build(CONFIG), ranges)


def test_recomputing_counts_every_position_again() -> None:
    assert recompute_flops(CONFIG, [5, 3]) == counted(build(CONFIG), [(0, 5), (0, 3)])


def test_the_weight_products_of_a_real_forward_are_what_the_formula_says() -> None:
    model = build(CONFIG)
    chunks = [Chunk([1, 2, 3], 0, [0]), Chunk([4], 0, [1])]
    with FlopCounterMode(display=False) as counter:
        forward(model, PagedKVCache(CONFIG, 2, 4), chunks)
    products = counter.get_flop_counts()["Global"]
    weights = products[torch.ops.aten.mm] + products.get(torch.ops.aten.addmm, 0)
    assert weights == 4 * linear_flops(CONFIG) + 2 * head_flops(CONFIG)


@given(st.integers(1, 60), st.integers(1, 10))
def test_cutting_a_prompt_costs_only_further_rows_of_logits(length: int, cut: int) -> None:
    starts = range(0, length, cut)
    chunks = [Chunk([0] * (min(start + cut, length) - start), start, ()) for start in starts]
    one = forward_flops(TINY, [Chunk([0] * length, 0, ())])
    assert forward_flops(TINY, chunks) == one + (len(starts) - 1) * head_flops(TINY)
    assert forward_flops(TINY, chunks, every_row=True) == one + (length - 1) * head_flops(TINY)


def test_a_decode_step_grows_linearly_and_a_step_without_cache_does_not() -> None:
    cached = [forward_flops(TINY, [Chunk([0], length - 1, ())]) for length in (100, 200, 300)]
    assert cached[2] - cached[1] == cached[1] - cached[0] == 100 * attention_flops(TINY, 0, 1)
    again = [recompute_flops(TINY, [length]) for length in (100, 200, 300)]
    assert again[2] - again[1] > again[1] - again[0]
