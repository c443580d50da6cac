"""Shapes of the presets, names that quantization relies on, and rotary positions."""

from __future__ import annotations

import dataclasses

import pytest
import torch
from torch import nn

from engine.model.config import LARGE, PRESETS, TINY, ModelConfig
from engine.model.reference import last_logits
from engine.model.transformer import Transformer, build, rotary_tables, rotate

SMALL = ModelConfig(
    vocabulary=32, width=16, layers=2, query_heads=4, kv_heads=2, head_dim=8, hidden=24, context=32
)


def parameters(config: ModelConfig) -> int:
    with torch.device("meta"):
        return sum(parameter.numel() for parameter in Transformer(config).parameters())


def test_parameter_counts() -> None:
    assert parameters(TINY) == 853_120
    assert 100_000_000 <= parameters(LARGE) <= 200_000_000


@pytest.mark.parametrize("config", PRESETS.values(), ids=PRESETS)
def test_presets_fit_packed_kernels(config: ModelConfig) -> None:
    with torch.device("meta"):
        linears = [m for m in Transformer(config).modules() if isinstance(m, nn.Linear)]
    assert all(linear.in_features % 128 == 0 and linear.out_features % 16 == 0 for linear in linears)


def test_the_names_of_the_matrices_are_fixed() -> None:
    names = [name for name, module in build(SMALL).named_modules() if isinstance(module, nn.Linear)]
    parts = ["attention.qkv", "attention.output", "mlp.gate_up", "mlp.down"]
    assert names == [f"blocks.{layer}.{part}" for layer in range(2) for part in parts] + ["head"]


def test_kv_bytes_per_token_counts_keys_and_values_of_all_layers() -> None:
    assert TINY.kv_bytes_per_token() == 2 * 4 * 2 * 32 * 4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"layers": 0}, "layers must be at least 1, not 0"),
        ({"kv_heads": 3}, "4 query heads cannot share 3 kv heads evenly"),
        ({"head_dim": 7}, "head_dim must be even"),
    ],
)
def test_impossible_shapes_are_refused(change: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(TINY, **change)


def test_equal_seeds_give_equal_weights_and_others_do_not() -> None:
    first, second, other = (build(SMALL, seed).head.weight for seed in (5, 5, 6))
    assert torch.equal(first, second)
    assert not torch.equal(first, other)


def test_a_rotation_keeps_lengths_and_depends_on_distance_only() -> None:
    cosine, sine = rotary_tables(SMALL)
    query, key = torch.randn(2, SMALL.head_dim, generator=torch.Generator().manual_seed(0))
    at = [(rotate(query, cosine[p], sine[p]), rotate(key, cosine[p], sine[p])) for p in range(20)]
    torch.testing.assert_close(at[7][0].norm(), query.norm())
    torch.testing.assert_close(at[9][0] @ at[4][1], at[17][0] @ at[12][1])
    assert torch.equal(at[0][0], query)


def test_the_training_forward_agrees_with_the_reference() -> None:
    model, tokens = build(SMALL, 1), list(range(20))
    with torch.inference_mode():
        windows = model(torch.tensor([tokens]))[0]
    for length in (1, 2, 20):
        torch.testing.assert_close(windows[length - 1], last_logits(model, tokens[:length]))
