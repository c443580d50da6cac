"""Small random models: quick, and as strict about pages and order as the trained one."""

from __future__ import annotations

from functools import cache

from engine.model.config import ModelConfig
from engine.model.transformer import Transformer, build

SMALL = ModelConfig(width=32, layers=2, query_heads=2, kv_heads=1, head_dim=16, hidden=64, context=128)


@cache
def small_model(seed: int = 0) -> Transformer:
    """A random model of the lab's kind, never changed by a test."""
    return build(SMALL, seed=seed)
