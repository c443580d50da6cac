"""The pool of pages: what is written is read, pages are copied, poisoned, added."""

from __future__ import annotations

import pytest
import torch

from engine.model.cache import PagedKVCache
from engine.model.config import TINY, ModelConfig

CONFIG = ModelConfig(width=8, layers=2, query_heads=2, kv_heads=2, head_dim=4, hidden=8)


def filled(pages: int = 3, page_size: int = 2, dtype: torch.dtype = torch.float32) -> PagedKVCache:
    cache = PagedKVCache(CONFIG, pages, page_size, dtype)
    rows = torch.arange(pages * page_size * 8).view(-1, 2, 4).float()
    for layer in range(CONFIG.layers):
        cache.write(layer, torch.arange(len(rows)), rows + layer, -rows - layer)
    return cache


def test_rows_are_read_in_the_order_asked_for() -> None:
    keys, values = filled().read(1, torch.tensor([5, 0, 5]))
    assert keys.shape == values.shape == (2, 3, 4)
    assert keys[0, :, 0].tolist() == [41, 1, 41]
    assert torch.equal(values, -keys)


def test_fresh_memory_is_not_a_number() -> None:
    assert PagedKVCache(CONFIG, 1, 1).keys.isnan().all()


def test_bytes_are_the_tokens_times_bytes_per_token() -> None:
    assert PagedKVCache(TINY, 16, 4).bytes == 64 * TINY.kv_bytes_per_token() == 64 * 2048
    assert PagedKVCache(TINY, 16, 4, torch.bfloat16).bytes == 64 * TINY.kv_bytes_per_token(2)


def test_half_precision_is_read_as_float32() -> None:
    keys, _ = filled(dtype=torch.bfloat16).read(0, torch.tensor([1]))
    assert keys.dtype == torch.float32
    assert keys[0, 0, 0] == 8


def test_copying_a_page_leaves_the_source_and_changes_only_the_target() -> None:
    cache, before = filled(), filled()
    cache.copy_page(0, 2)
    assert torch.equal(cache.keys[:, :, 4:], before.keys[:, :, :2])
    assert torch.equal(cache.values[:, :, 4:], before.values[:, :, :2])
    assert torch.equal(cache.keys[:, :, :4], before.keys[:, :, :4])


def test_poison_reaches_the_named_pages_only() -> None:
    cache = filled()
    cache.poison([1])
    assert cache.keys[:, :, 2:4].isnan().all()
    assert cache.values[:, :, 2:4].isnan().all()
    assert not cache.keys[:, :, [0, 1, 4, 5]].isnan().any()


def test_growing_keeps_what_is_written() -> None:
    cache, before = filled(), filled()
    cache.grow(5)
    assert cache.pages == 5
    assert torch.equal(cache.values[:, :, :6], before.values)
    assert cache.keys[:, :, 6:].isnan().all()
    cache.grow(2)
    assert cache.pages == 5


@pytest.mark.parametrize(("pages", "page_size"), [(0, 4), (4, 0)])
def test_a_pool_without_room_is_refused(pages: int, page_size: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        PagedKVCache(CONFIG, pages, page_size)
