"""One mixed forward over pages gives what the model gives, whoever shares it."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from engine.model import paged
from engine.model.cache import PagedKVCache
from engine.model.config import TINY, ModelConfig
from engine.model.layout import Chunk
from engine.model.paged import TILE, bucket, exact_tile, forward, known_tile, recompute
from engine.model.reference import generate, last_logits
from engine.model.tokens import decode, encode
from engine.model.transformer import Transformer, build
from tests.engine.model.serving import Load, alone, configs, loads, serve, small_model

SMALL = ModelConfig(
    vocabulary=16, width=32, layers=2, query_heads=4, kv_heads=2, head_dim=8, hidden=64, context=96
)
PROMPT = "To be, or not to b"

relaxed = settings(deadline=None, max_examples=60)


def whole(model: Transformer, tokens: list[int]) -> Tensor:
    """Logits after every token from the training forward."""
    with torch.inference_mode():
        return model(torch.tensor([tokens]))[0]


@relaxed
@given(configs(), loads(), st.integers(0, 2))
def test_fast_mode_agrees_with_the_training_forward(config: ModelConfig, load: Load, seed: int) -> None:
    model, _ = small_model(config, seed)
    for tokens, logits in zip(load.requests, serve(model, load, tile=None), strict=True):
        torch.testing.assert_close(logits, whole(model, tokens), rtol=1e-4, atol=1e-4)


@relaxed
@given(configs(), loads(), st.integers(0, 2))
def test_exact_mode_is_bit_identical_alone_and_shared(config: ModelConfig, load: Load, seed: int) -> None:
    model, tile = small_model(config, seed)
    for tokens, logits in zip(load.requests, serve(model, load, tile), strict=True):
        assert torch.equal(logits, alone(model, tokens, tile))
        torch.testing.assert_close(logits, whole(model, tokens), rtol=1e-4, atol=1e-4)


@settings(deadline=None, max_examples=8)
@given(loads(vocabulary=128, longest=140))
def test_the_trained_model_is_bit_identical_too(trained: Transformer, load: Load) -> None:
    tile = exact_tile(trained)
    for tokens, logits in zip(load.requests, serve(trained, load, tile), strict=True):
        assert torch.equal(logits, alone(trained, tokens, tile))


def greedy(model: Transformer, prompt: list[int], count: int, page_size: int, tile: int | None) -> list[int]:
    tokens = list(prompt)
    pages = -(-(len(prompt) + count) // page_size)
    cache = PagedKVCache(model.config, pages, page_size)
    table, done = list(reversed(range(pages))), 0
    for _ in range(count):
        logits = forward(model, cache, [Chunk(tokens[done:], done, table)], tile=tile)
        done = len(tokens)
        tokens.append(int(logits[0].argmax()))
    return tokens[len(prompt) :]


@pytest.mark.parametrize("tile", [None, 1, TILE])
@pytest.mark.parametrize("page_size", [1, 4, 64])
def test_greedy_decoding_equals_the_reference(trained: Transformer, page_size: int, tile: int | None) -> None:
    prompt = encode(PROMPT)
    expected = generate(trained, prompt, 40)
    assert min(expected.margins) > 1e-4
    assert greedy(trained, prompt, 40, page_size, tile) == expected.tokens


def test_the_trained_model_continues_the_prompt_in_ascii_words(trained: Transformer) -> None:
    text = decode(generate(trained, encode(PROMPT), 40).tokens)
    assert text.isascii()
    assert text.startswith("e")
    assert " " in text


def test_logits_come_in_the_order_of_the_chunks() -> None:
    model, _ = small_model(SMALL, 0)
    requests = [[1, 2, 3], [4], [5, 6, 7], [8, 9]]
    cache = PagedKVCache(SMALL, 4, 4)
    logits = forward(model, cache, [Chunk(tokens, 0, [page]) for page, tokens in enumerate(requests)])
    for row, tokens in zip(logits, requests, strict=True):
        torch.testing.assert_close(row, last_logits(model, tokens))


def test_one_call_is_one_pass_through_every_matrix() -> None:
    model, _ = small_model(SMALL, 0)
    calls: list[str] = []
    handles = [
        module.register_forward_hook(lambda *_, name=name: calls.append(name))
        for name, module in model.named_modules()
        if isinstance(module, nn.Linear)
    ]
    forward(model, PagedKVCache(SMALL, 3, 4), [Chunk([1, 2], 0, [0]), Chunk([3], 0, [1]), Chunk([4], 0, [2])])
    for handle in handles:
        handle.remove()
    assert sorted(calls) == sorted(set(calls))
    assert len(calls) == len(handles)


@pytest.mark.parametrize("tile", [None, TILE])
def test_a_shared_prefix_page_is_read_by_both(tile: int | None) -> None:
    model, _ = small_model(SMALL, 0)
    cache = PagedKVCache(SMALL, 4, 4)
    forward(model, cache, [Chunk([1, 2, 3, 4], 0, [2])], tile=tile)
    logits = forward(model, cache, [Chunk([5], 4, [2, 0]), Chunk([6, 7], 4, [2, 3])], tile=tile)
    for row, tokens in zip(logits, ([1, 2, 3, 4, 5], [1, 2, 3, 4, 6, 7]), strict=True):
        torch.testing.assert_close(row, last_logits(model, tokens))


def test_recompute_keeps_nothing_and_gives_the_same_bits_as_the_cache() -> None:
    model, tile = small_model(SMALL, 0)
    cache = PagedKVCache(SMALL, 5, 2)
    forward(model, cache, [Chunk([1, 2, 3], 0, [4, 0])], tile=tile)
    cached = forward(model, cache, [Chunk([7], 3, [4, 0])], tile=tile)
    assert torch.equal(recompute(model, [[1, 2, 3, 7], [9]], tile=tile)[:1], cached)


def test_no_gradient_is_recorded() -> None:
    model, _ = small_model(SMALL, 0)
    assert recompute(model, [[1]]).is_inference()


class PlaceDependent(nn.Linear):
    """A product that rounds the last rows of a batch differently, as some libraries do."""

    def forward(self, rows: Tensor) -> Tensor:
        product = super().forward(rows)
        return product * (1 + 1e-6 * torch.arange(len(rows))[:, None])


def test_exact_mode_falls_back_to_single_rows_where_places_matter() -> None:
    model = build(SMALL, 3)
    assert exact_tile(model) == TILE
    model.blocks[1].mlp.down = PlaceDependent(SMALL.hidden, SMALL.width, bias=False)
    assert exact_tile(model) == 1
    both = recompute(model, [[1, 2, 3], [4, 5]], tile=1)
    assert torch.equal(both[1:], recompute(model, [[4, 5]], tile=1))


def test_the_tile_is_tried_once_until_the_model_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []

    def counted(model: Transformer) -> int:
        tried.append(model)
        return exact_tile(model)

    monkeypatch.setattr(paged, "exact_tile", counted)
    model = build(SMALL, 3)
    assert [known_tile(model) for _ in range(3)] == [TILE] * 3
    assert len(tried) == 1
    with torch.no_grad():
        model.blocks[0].mlp.down.weight.mul_(2)
    assert known_tile(model) == TILE
    assert len(tried) == 2
    model.blocks[1].mlp.down = PlaceDependent(SMALL.hidden, SMALL.width, bias=False)
    assert [known_tile(model) for _ in range(2)] == [1, 1]
    assert len(tried) == 3


def test_a_forward_without_chunks_is_refused() -> None:
    model, _ = small_model(SMALL, 0)
    with pytest.raises(ValueError, match="at least one chunk"):
        forward(model, PagedKVCache(SMALL, 1, 1), [])


@pytest.mark.parametrize(
    ("length", "keys"), [(1, 64), (64, 64), (65, 128), (200, 256), (257, 512), (512, 512)]
)
def test_the_number_of_keys_follows_from_the_length_alone(length: int, keys: int) -> None:
    assert bucket(length, TINY.context) == keys


def test_buckets_end_at_the_context() -> None:
    assert bucket(70, 96) == 96
    assert bucket(3, 16) == 16
