"""How many floating-point operations a forward needs, from its chunks alone.

One multiplication and one addition are two operations. Counted are the matrix products, as is
the custom; norms, rotations and softmax are left out, and so is what a kernel computes and throws
away for masked or padded positions.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from engine.model.config import ModelConfig


class Work(Protocol):
    """What counts of a chunk: its position range."""

    @property
    def start(self) -> int:
        """Position of the first token."""

    @property
    def end(self) -> int:
        """Position after the last token."""


def linear_flops(config: ModelConfig) -> int:
    """Operations of all layers' weight matrices for one token, the head not counted."""
    attention = config.width * (config.qkv_width + config.query_width)
    feed_forward = 3 * config.width * config.hidden
    return 2 * config.layers * (attention + feed_forward)


def head_flops(config: ModelConfig) -> int:
    """Operations of the head for one row of logits."""
    return 2 * config.width * config.vocabulary


def attention_flops(config: ModelConfig, start: int, end: int) -> int:
    """Operations of attention, all layers, for the tokens at positions `start` to `end` - 1.

    The token at position p reads p + 1 keys and p + 1 values.
    """
    reads = (end * (end + 1) - start * (start + 1)) // 2
    return 2 * 2 * config.layers * config.query_width * reads


def span_flops(config: ModelConfig, start: int, end: int, logits: int = 1) -> int:
    """Operations for positions `start` to `end` - 1 of one request and `logits` rows of logits."""
    linear = (end - start) * linear_flops(config)
    return linear + attention_flops(config, start, end) + logits * head_flops(config)


def forward_flops(config: ModelConfig, chunks: Iterable[Work], *, every_row: bool = False) -> int:
    """Operations of `paged.forward` over `chunks`, logits for the last or for every token of each."""
    spans = [(chunk.start, chunk.end) for chunk in chunks]
    tokens = sum(end - start for start, end in spans)
    products = tokens * linear_flops(config) + (tokens if every_row else len(spans)) * head_flops(config)
    return products + sum(attention_flops(config, start, end) for start, end in spans)


def recompute_flops(config: ModelConfig, lengths: Iterable[int]) -> int:
    """Operations of one step without KV cache for requests of `lengths` tokens so far."""
    return sum(span_flops(config, 0, length) for length in lengths)
