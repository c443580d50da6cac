"""The reference: greedy, from the beginning each time, with margins."""

from __future__ import annotations

import pytest
import torch

from engine.model.config import ModelConfig
from engine.model.reference import generate, last_logits, margin
from engine.model.transformer import build

CONFIG = ModelConfig(
    vocabulary=16, width=16, layers=2, query_heads=2, kv_heads=1, head_dim=8, hidden=16, context=12
)


def test_every_token_is_the_likeliest_after_what_came_before() -> None:
    model = build(CONFIG, 4)
    result = generate(model, [1, 2], 5)
    tokens = [1, 2]
    for token, logits, gap in zip(result.tokens, result.logits, result.margins, strict=True):
        assert torch.equal(logits, last_logits(model, tokens))
        assert token == int(logits.argmax())
        assert gap == margin(logits) >= 0
        tokens.append(token)


def test_the_margin_is_best_minus_second() -> None:
    assert margin(torch.tensor([1.0, 4.0, 2.5])) == 1.5
    assert margin(torch.tensor([3.0, 3.0])) == 0


def test_no_tokens_asked_for_gives_none() -> None:
    result = generate(build(CONFIG), [1], 0)
    assert result.tokens == result.margins == []
    assert result.logits.shape == (0, 16)


def test_the_context_is_the_limit() -> None:
    assert len(generate(build(CONFIG), [1] * 4, 8).tokens) == 8
    with pytest.raises(ValueError, match="4 \\+ 9 tokens exceed the context of 12"):
        generate(build(CONFIG), [1] * 4, 9)
    with pytest.raises(ValueError, match="no tokens"):
        generate(build(CONFIG), [], 1)
