"""What 8-bit keys and values cost, by where their scale comes from."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from torch import Tensor

from engine.model.cache import PagedKVCache
from engine.model.layout import Chunk
from engine.model.paged import forward
from engine.model.transformer import Transformer
from engine.quantize.kv_cache import MODES, Int8KVCache, KVScales, keys_and_values, kv_scales, round_trip
from engine.quantize.quality import TokenDifference, relative_error, token_differences


class KVResult(msgspec.Struct, frozen=True):
    """One scale mode on one text.

    `source` says where the scale comes from. `bytes` are those of a pool for the text, scales
    included, and `ratio` their share of the float32 pool's. Errors are relative Frobenius norms of
    what is read back, largest of all layers. `tokens` compares logits position by position, every
    model having read the same text; `agreement` is the share of positions with the same choice.
    """

    mode: str
    source: str
    bytes: int
    ratio: float
    key_error: float
    value_error: float
    tokens: list[TokenDifference]

    @property
    def agreement(self) -> float:
        """Share of positions at which the choice is fp32's."""
        return 1 - sum(token.changed for token in self.tokens) / len(self.tokens)

    @property
    def largest(self) -> float:
        """Greatest |Δlogit| of all positions."""
        return max(token.largest for token in self.tokens)


def kv_comparison(
    model: Transformer,
    text: Sequence[int],
    calibration: Sequence[Sequence[int]],
    modes: Sequence[str] = tuple(MODES),
) -> list[KVResult]:
    """Compare scale `modes` on `text`, at most as long as the model's context; `calibration` are
    windows of other text. Raises `QuantizationError` for an unknown mode."""
    plain = PagedKVCache(model.config, 1, len(text))
    expected = _logits(model, plain, text)
    numbers = keys_and_values(model, text)
    return [
        _result(model, text, kv_scales(mode, model, calibration), plain.bytes, expected, numbers)
        for mode in modes
    ]


def _result(
    model: Transformer,
    text: Sequence[int],
    scales: KVScales,
    plain_bytes: int,
    expected: Tensor,
    numbers: tuple[Tensor, Tensor],
) -> KVResult:
    cache = Int8KVCache(model.config, 1, len(text), scales)
    key_error, value_error = (
        _worst_layer(exact, round_trip(exact, scale))
        for exact, scale in zip(numbers, (scales.keys, scales.values), strict=True)
    )
    differences = token_differences(expected, _logits(model, cache, text))
    return KVResult(
        scales.mode,
        MODES[scales.mode],
        cache.bytes,
        cache.bytes / plain_bytes,
        key_error,
        value_error,
        differences,
    )


def _logits(model: Transformer, cache: PagedKVCache, text: Sequence[int]) -> Tensor:
    return forward(model, cache, [Chunk(text, 0, [0])], every_row=True)


def _worst_layer(exact: Tensor, rounded: Tensor) -> float:
    return max(relative_error(*pair) for pair in zip(rounded, exact, strict=True))
