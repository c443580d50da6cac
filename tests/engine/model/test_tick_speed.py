"""The measurement of a tick against its bare products; no time is asserted, only what is timed."""

from __future__ import annotations

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from engine.model.config import ModelConfig
from engine.model.flops import forward_flops
from engine.model.paged import forward
from engine.model.speed import TickTime, bare_products, decode_tick, measure_tick
from engine.model.transformer import build

CONFIG = ModelConfig(
    vocabulary=80, width=16, layers=2, query_heads=4, kv_heads=2, head_dim=8, hidden=24, context=64
)


def test_the_bare_products_are_exactly_the_work_of_the_tick() -> None:
    model = build(CONFIG)
    _, chunks = decode_tick(model, decodes=3, context=40, page_size=4)
    with FlopCounterMode(display=False) as counter:
        bare_products(model, decodes=3, context=40)()
    assert counter.get_total_flops() == forward_flops(CONFIG, chunks)


def test_the_measured_tick_is_a_decode_of_every_request() -> None:
    model = build(CONFIG)
    cache, chunks = decode_tick(model, decodes=3, context=40, page_size=4)
    assert [(len(chunk.tokens), chunk.end) for chunk in chunks] == [(1, 40)] * 3
    pages = [page for chunk in chunks for page in chunk.block_table]
    assert sorted(pages) == list(range(cache.pages)) != pages
    assert torch.isfinite(forward(model, cache, chunks)).all()


@pytest.mark.parametrize("tile", [None, 8])
def test_a_measurement_has_both_times(tile: int | None) -> None:
    result = measure_tick(build(CONFIG), 2, 20, tile=tile, repeats=3)
    assert result.tick > 0
    assert result.bare > 0


def test_the_ratio_is_tick_over_bare() -> None:
    assert TickTime(decodes=8, context=192, tick=900, bare=300).ratio == 3
