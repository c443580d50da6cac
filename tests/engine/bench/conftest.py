"""A setting in which a whole section takes moments: models of no use except to be quick."""

from __future__ import annotations

from functools import cache

import pytest

from engine.bench import Setting
from engine.model.config import ModelConfig
from engine.model.transformer import Transformer, build
from engine.words import engine_words

SMALL = ModelConfig(width=16, layers=2, query_heads=2, kv_heads=1, head_dim=8, hidden=24, context=288)


@cache
def small_model(layers: int = 2) -> Transformer:
    """A random model, never changed by a test; its context holds every load of the benchmark."""
    return build(ModelConfig(**{**vars(SMALL), "layers": layers}))


@pytest.fixture
def setting() -> Setting:
    """The quick setting with small models."""
    return Setting(small_model(), small_model(1), small_model, engine_words("en"), repeats=1, quick=True)
