"""The shape of a model, and the three shapes the lab uses."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True)
class ModelConfig:
    """The shape of a decoder-only transformer (Llama family).

    Lengths are counted in tokens, widths in numbers per token. Raises `ValueError`
    for a shape that no model can have.
    """

    vocabulary: int = 256
    width: int = 128
    layers: int = 4
    query_heads: int = 4
    kv_heads: int = 2
    head_dim: int = 32
    hidden: int = 384
    context: int = 512
    rope_base: float = 10_000.0
    norm_epsilon: float = 1e-5

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.type == "int" and value < 1:
                raise ValueError(f"{field.name} must be at least 1, not {value}")
        if self.query_heads % self.kv_heads:
            raise ValueError(f"{self.query_heads} query heads cannot share {self.kv_heads} kv heads evenly")
        if self.head_dim % 2:
            raise ValueError(f"head_dim must be even for rotary positions, not {self.head_dim}")

    @property
    def query_width(self) -> int:
        """Numbers in all query heads of one token."""
        return self.query_heads * self.head_dim

    @property
    def kv_width(self) -> int:
        """Numbers in all key heads (or all value heads) of one token."""
        return self.kv_heads * self.head_dim

    @property
    def qkv_width(self) -> int:
        """Numbers in queries, keys and values of one token together."""
        return self.query_width + 2 * self.kv_width

    def kv_bytes_per_token(self, bytes_per_number: int = 4) -> int:
        """Bytes that one token occupies in the key/value cache, all layers."""
        return 2 * self.layers * self.kv_width * bytes_per_number


TINY = ModelConfig()
"""The trained model of the lab: 0.85 million parameters."""

DRAFT = ModelConfig(layers=1)
"""One layer, distilled from TINY: proposes tokens for speculative decoding."""

LARGE = ModelConfig(width=1024, layers=10, query_heads=16, kv_heads=8, head_dim=64, hidden=2816)
"""Random weights, 118 million parameters: for measuring memory bandwidth, never for quality."""

PRESETS = {"tiny": TINY, "draft": DRAFT, "large": LARGE}
