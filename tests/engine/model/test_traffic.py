"""Bytes of a forward: what the model's own tensors weigh, and the keys and values that it touches."""

from __future__ import annotations

import pytest

from engine.model.config import PRESETS, ModelConfig
from engine.model.flops import forward_flops
from engine.model.layout import Chunk
from engine.model.traffic import forward_traffic, weight_count
from engine.model.transformer import build

SHAPE = ModelConfig(width=16, layers=3, query_heads=4, kv_heads=2, head_dim=6, hidden=20, context=64)


def test_weights_are_all_parameters_but_the_embedding() -> None:
    model = build(SHAPE)
    numbers = sum(parameter.numel() for parameter in model.parameters())
    assert weight_count(SHAPE) == numbers - model.embedding.weight.numel()


def test_keys_and_values_are_each_requests_own() -> None:
    each = SHAPE.kv_bytes_per_token(4)
    found = forward_traffic(SHAPE, [Chunk([1], 9, [0]), Chunk([1, 2, 3], 4, [1])])
    assert (found.kv_read, found.kv_written) == (each * (10 + 7), each * 4)
    assert found.weights == 4 * (weight_count(SHAPE) + 4 * SHAPE.width)
    assert found.total == found.weights + found.kv_read + found.kv_written


@pytest.mark.parametrize("name", ["tiny", "large"])
def test_batching_moves_decode_to_the_right_and_never_past_a_whole_prompt(name: str) -> None:
    config = PRESETS[name]

    def intensity(chunks: list[Chunk]) -> float:
        return forward_flops(config, chunks) / forward_traffic(config, chunks).total

    decodes = [intensity([Chunk([1], 63, [page]) for page in range(count)]) for count in (1, 4, 8, 16)]
    assert decodes == sorted(decodes)
    assert decodes[-1] > 8 * decodes[0]
    assert intensity([Chunk([1] * 16, 0, [0])]) > decodes[-1]
