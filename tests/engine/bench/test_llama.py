"""Our weights under Llama's names; transformers itself is not needed for that."""

from __future__ import annotations

import torch

from engine.bench.llama import llama_shape, llama_weights
from engine.model.config import ModelConfig
from engine.model.transformer import build

SHAPE = ModelConfig(
    vocabulary=40, width=16, layers=2, query_heads=6, kv_heads=2, head_dim=4, hidden=24, context=64
)
LAYER = {
    "input_layernorm.weight": (16,),
    "self_attn.q_proj.weight": (24, 16),
    "self_attn.k_proj.weight": (8, 16),
    "self_attn.v_proj.weight": (8, 16),
    "self_attn.o_proj.weight": (16, 24),
    "post_attention_layernorm.weight": (16,),
    "mlp.gate_proj.weight": (24, 16),
    "mlp.up_proj.weight": (24, 16),
    "mlp.down_proj.weight": (16, 24),
}
OUTSIDE = {"model.embed_tokens.weight": (40, 16), "model.norm.weight": (16,), "lm_head.weight": (40, 16)}


def test_names_and_shapes_are_those_of_llama() -> None:
    expected = dict(OUTSIDE)
    for layer in range(SHAPE.layers):
        expected |= {f"model.layers.{layer}.{name}": shape for name, shape in LAYER.items()}
    found = llama_weights(build(SHAPE))
    assert {name: tuple(weight.shape) for name, weight in found.items()} == expected


def test_joined_matrices_are_cut_in_their_order() -> None:
    model = build(SHAPE)
    found, block = llama_weights(model), model.blocks[1]
    parts = [found[f"model.layers.1.self_attn.{letter}_proj.weight"] for letter in "qkv"]
    assert torch.equal(torch.cat(parts), block.attention.qkv.weight)
    parts = [found[f"model.layers.1.mlp.{name}_proj.weight"] for name in ("gate", "up")]
    assert torch.equal(torch.cat(parts), block.mlp.gate_up.weight)
    assert torch.equal(found["model.layers.1.mlp.down_proj.weight"], block.mlp.down.weight)


def test_the_shape_says_everything_that_differs_from_the_library() -> None:
    found = llama_shape(SHAPE)
    assert found["hidden_size"] == 16
    assert found["intermediate_size"] == 24
    assert (found["num_attention_heads"], found["num_key_value_heads"], found["head_dim"]) == (6, 2, 4)
    assert (found["num_hidden_layers"], found["vocab_size"], found["max_position_embeddings"]) == (2, 40, 64)
    assert found["rope_theta"] == found["rope_parameters"]["rope_theta"] == SHAPE.rope_base
    assert found["rms_norm_eps"] == SHAPE.norm_epsilon
    assert found["tie_word_embeddings"] is False
