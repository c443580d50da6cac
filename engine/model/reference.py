"""The naive reference: one request, no cache, every step from the beginning.

Written to be read beside a textbook and to be trusted, not to be fast: greedy decoding is the
definition that every faster way in this package must reproduce.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from engine.model.transformer import Attention, Transformer


@dataclass(frozen=True, slots=True)
class Generation:
    """What greedy decoding gave: the new tokens; for each the logits it was chosen from,
    (tokens, vocabulary); and the margin by which the best logit beat the second."""

    tokens: list[int]
    logits: Tensor
    margins: list[float]


@torch.inference_mode()
def generate(model: Transformer, prompt: Sequence[int], max_tokens: int) -> Generation:
    """Continue `prompt` by `max_tokens` tokens, always taking the likeliest.

    Raises `ValueError` for an empty prompt or when prompt and output exceed the model's context.
    """
    if not prompt:
        raise ValueError("the prompt has no tokens")
    if len(prompt) + max_tokens > model.config.context:
        raise ValueError(f"{len(prompt)} + {max_tokens} tokens exceed the context of {model.config.context}")
    tokens, rows = list(prompt), []
    for _ in range(max_tokens):
        rows.append(last_logits(model, tokens))
        tokens.append(int(rows[-1].argmax()))
    logits = torch.stack(rows) if rows else torch.empty(0, model.config.vocabulary)
    return Generation(tokens[len(prompt) :], logits, [margin(row) for row in rows])


def margin(logits: Tensor) -> float:
    """Best logit minus second-best of one row (vocabulary): how far the choice was from another."""
    best, second = logits.topk(2).values.tolist()
    return float(best - second)


def last_logits(model: Transformer, tokens: Sequence[int]) -> Tensor:
    """Logits (vocabulary) for the token after `tokens`."""
    hidden = model.embedding(torch.tensor(tokens))
    for block in model.blocks:
        hidden = hidden + attend(block.attention, block.attention_norm(hidden), model)
        gate, up = block.mlp.gate_up(block.mlp_norm(hidden)).chunk(2, dim=-1)
        hidden = hidden + block.mlp.down(functional.silu(gate) * up)
    logits: Tensor = model.head(model.norm(hidden[-1:]))
    return logits[0]


def attend(attention: Attention, hidden: Tensor, model: Transformer) -> Tensor:
    """Causal self-attention of one request: (length, width) to the same shape."""
    config, length = model.config, len(hidden)
    heads = attention.qkv(hidden).view(length, -1, config.head_dim)  # queries, then keys, then values
    query = turn(heads[:, : config.query_heads], model)
    key = turn(heads[:, config.query_heads : -config.kv_heads], model)
    value = heads[:, -config.kv_heads :]
    future = torch.ones(length, length, dtype=torch.bool).triu(diagonal=1)
    mixed = []
    for head in range(config.query_heads):
        shared = head * config.kv_heads // config.query_heads  # the key/value head this query head reads
        scores = query[:, head] @ key[:, shared].T / math.sqrt(config.head_dim)
        weights = scores.masked_fill(future, -math.inf).softmax(dim=-1)
        mixed.append(weights @ value[:, shared])
    output: Tensor = attention.output(torch.cat(mixed, dim=-1))
    return output


def turn(heads: Tensor, model: Transformer) -> Tensor:
    """Rotary positions: turn the pair (i, i + half) of each head by position times frequency i.

    `heads` is (length, heads, head_dim), the positions are 0 to length - 1.
    """
    half = model.config.head_dim // 2
    frequency = model.config.rope_base ** (-torch.arange(half, dtype=torch.float64) / half)
    angle = torch.arange(len(heads), dtype=torch.float64)[:, None, None] * frequency
    cosine, sine = angle.cos().float(), angle.sin().float()
    first, second = heads[..., :half], heads[..., half:]
    return torch.cat((first * cosine - second * sine, second * cosine + first * sine), dim=-1)
