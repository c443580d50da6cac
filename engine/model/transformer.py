"""The model: a small Llama-style decoder whose every matrix is an `nn.Linear`.

Names are part of the contract, because quantization swaps the linear layers by name:

    embedding
    blocks.<i>.attention_norm  blocks.<i>.attention.qkv  blocks.<i>.attention.output
    blocks.<i>.mlp_norm        blocks.<i>.mlp.gate_up    blocks.<i>.mlp.down
    norm                       head

`qkv` holds the rows of queries, keys and values one after the other and `gate_up` those of
gate and up: one wide matrix product costs less than several narrow ones.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from engine.model.config import ModelConfig


def rotary_tables(config: ModelConfig) -> tuple[Tensor, Tensor]:
    """Cosines and signed sines of the rotary position embedding, each (context, head_dim).

    The sign that the rotation gives to the first half of a head is put into the table, so
    that `rotate` needs no negation. Source: RoFormer, arXiv 2104.09864, in Llama's layout.
    """
    half = config.head_dim // 2
    frequency = config.rope_base ** (-torch.arange(half, dtype=torch.float64) / half)
    angle = torch.arange(config.context, dtype=torch.float64)[:, None] * frequency
    cosine, sine = angle.cos(), angle.sin()
    return torch.cat((cosine, cosine), -1).float(), torch.cat((-sine, sine), -1).float()


def rotate(heads: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Turn the vectors of `heads` (…, head_dim) by the angles of their positions.

    `cosine` and `sine` come from `rotary_tables` and broadcast against `heads`.
    """
    return torch.addcmul(heads * cosine, torch.roll(heads, heads.shape[-1] // 2, -1), sine)


class Attention(nn.Module):
    """Grouped-query self-attention: several query heads read one key/value head."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.qkv = nn.Linear(config.width, config.qkv_width, bias=False)
        self.output = nn.Linear(config.query_width, config.width, bias=False)

    def forward(self, hidden: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
        """Causal attention within one window: (batch, length, width) to the same shape."""
        config = self.config
        batch, length, _ = hidden.shape
        heads = self.qkv(hidden).view(batch, length, -1, config.head_dim).transpose(1, 2)
        turned = rotate(heads[:, : -config.kv_heads], cosine, sine)
        query, key = turned[:, : config.query_heads], turned[:, config.query_heads :]
        value = heads[:, -config.kv_heads :].to(turned.dtype)
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True, enable_gqa=True)
        output: Tensor = self.output(mixed.transpose(1, 2).reshape(batch, length, -1))
        return output


class FeedForward(nn.Module):
    """SwiGLU: silu(gate) times up, then down. Source: arXiv 2002.05202."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.gate_up = nn.Linear(config.width, 2 * config.hidden, bias=False)
        self.down = nn.Linear(config.hidden, config.width, bias=False)

    def forward(self, hidden: Tensor) -> Tensor:
        """(…, width) to (…, width)."""
        gate, up = self.gate_up(hidden).chunk(2, -1)
        output: Tensor = self.down(functional.silu(gate) * up)
        return output


class Block(nn.Module):
    """One layer: attention, then feed-forward, each added to what came in."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.attention_norm = nn.RMSNorm(config.width, eps=config.norm_epsilon)
        self.attention = Attention(config)
        self.mlp_norm = nn.RMSNorm(config.width, eps=config.norm_epsilon)
        self.mlp = FeedForward(config)

    def forward(self, hidden: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
        """(batch, length, width) to the same shape."""
        attended: Tensor = hidden + self.attention(self.attention_norm(hidden), cosine, sine)
        output: Tensor = attended + self.mlp(self.mlp_norm(attended))
        return output


class Transformer(nn.Module):
    """Bytes in, one row of logits per byte out. `forward` is for training and evaluation;
    serving goes through `engine.model.paged.forward`."""

    blocks: Sequence[Block]
    cosine: Tensor
    sine: Tensor

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocabulary, config.width)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))  # type: ignore[assignment]
        self.norm = nn.RMSNorm(config.width, eps=config.norm_epsilon)
        self.head = nn.Linear(config.width, config.vocabulary, bias=False)
        cosine, sine = rotary_tables(config)
        self.register_buffer("cosine", cosine, persistent=False)
        self.register_buffer("sine", sine, persistent=False)

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits (batch, length, vocabulary) of windows of tokens (batch, length), positions from 0."""
        length = tokens.shape[1]
        hidden = self.embedding(tokens)
        for block in self.blocks:
            hidden = block(hidden, self.cosine[:length], self.sine[:length])
        logits: Tensor = self.head(self.norm(hidden))
        return logits


def initialize(model: Transformer, seed: int) -> None:
    """Give `model` the random weights of `seed`: matrices normal with 1/sqrt(fan in), norms one.

    What is added to the residual stream starts smaller, by the square root of the number of additions.
    """
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in model.named_parameters():
        if parameter.ndim == 1:
            nn.init.ones_(parameter)
            continue
        spread = 1.0 if name == "embedding.weight" else parameter.shape[1] ** -0.5
        if name.endswith(("output.weight", "down.weight")):
            spread /= (2 * model.config.layers) ** 0.5
        nn.init.normal_(parameter, 0.0, spread, generator=generator)


def build(config: ModelConfig, seed: int = 0) -> Transformer:
    """A model of shape `config` with the random weights of `seed`, in evaluation mode."""
    model = Transformer(config)
    initialize(model, seed)
    return model.eval()
