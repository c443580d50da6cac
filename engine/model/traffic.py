"""How many bytes a forward needs from memory, from its chunks alone: computed, not measured.

Weights are read once per forward, whoever is in it; keys and values are read for each request by
itself. Activations are left out: a tick's fit into any cache.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from engine.model.config import ModelConfig
from engine.model.flops import Work, linear_flops


@dataclass(frozen=True, slots=True)
class Traffic:
    """Bytes of weights read, of keys and values read, and of keys and values written."""

    weights: int
    kv_read: int
    kv_written: int

    @property
    def total(self) -> int:
        """All of them."""
        return self.weights + self.kv_read + self.kv_written


def forward_traffic(config: ModelConfig, chunks: Iterable[Work], bytes_per_number: int = 4) -> Traffic:
    """What `paged.forward` over `chunks` reads and writes at least.

    A chunk reads keys and values of all its positions once and writes those of its own tokens.
    """
    spans = [(chunk.start, chunk.end) for chunk in chunks]
    each = config.kv_bytes_per_token(bytes_per_number)
    tokens = sum(end - start for start, end in spans)
    looked_up = tokens * config.width
    return Traffic(
        weights=bytes_per_number * (weight_count(config) + looked_up),
        kv_read=each * sum(end for _, end in spans),
        kv_written=each * tokens,
    )


def weight_count(config: ModelConfig) -> int:
    """Numbers that every forward reads: all matrices, the head and the norms, not the embedding."""
    matrices = linear_flops(config) // 2  # one multiplication and one addition per weight and token
    return matrices + config.width * config.vocabulary + (2 * config.layers + 1) * config.width
