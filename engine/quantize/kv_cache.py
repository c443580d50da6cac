"""Keys and values in 8 bits, and where their scale comes from.

Weights are known before the first request; keys and values are not. So the scale is either fixed
beforehand (`unit`: 1.0, `calibrated`: from text, one number per layer, `tensor`: so for keys only,
`channel`: for keys one number per channel) or taken from each token as it is written (`token`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.model.cache import PagedKVCache
from engine.model.config import ModelConfig
from engine.model.layout import Chunk
from engine.model.paged import forward
from engine.model.transformer import Transformer
from engine.quantize.errors import QuantizationError
from engine.quantize.grid import EIGHT_BIT, SMALLEST_SCALE

MODES = {
    "unit": "fixed at 1.0",
    "calibrated": "largest magnitude on calibration text / 127, per layer",
    "tensor": "keys: the same; values: from each token as it is written",
    "channel": "keys: the same per channel; values: from each token as it is written",
    "token": "from each token as it is written, per head",
}
"""Where the scale comes from, by mode."""

UNWRITTEN = -128
"""No number is rounded to this level: it marks a slot that nobody wrote, and is read as NaN."""


@dataclass(frozen=True, slots=True)
class KVScales:
    """Scales of keys and of values, each of a shape that broadcasts against (layers, kv_heads,
    slots, head_dim); None: every token brings its own."""

    mode: str
    keys: Tensor | None = None
    values: Tensor | None = None


def kv_scales(mode: str, model: Transformer, windows: Sequence[Sequence[int]] = ()) -> KVScales:
    """The scales of `mode` for `model`; `calibrated`, `tensor` and `channel` look at
    `windows` of tokens.

    Raises `QuantizationError` for an unknown mode, and when there is no text to look at.
    """
    if mode not in MODES:
        raise QuantizationError(f"mode: {mode!r} is not one of {', '.join(MODES)}")
    if mode == "token":
        return KVScales(mode)
    if mode == "unit":
        return KVScales(mode, torch.ones(1, 1, 1, 1), torch.ones(1, 1, 1, 1))
    if not windows:
        raise QuantizationError(f"mode: {mode} needs calibration text")
    keys, values = (
        torch.cat(parts, 2) for parts in zip(*(keys_and_values(model, w) for w in windows), strict=True)
    )
    if mode == "channel":
        return KVScales(mode, _scale(keys, (2,)))
    if mode == "tensor":
        return KVScales(mode, _scale(keys, (1, 2, 3)))
    return KVScales(mode, _scale(keys, (1, 2, 3)), _scale(values, (1, 2, 3)))


def keys_and_values(model: Transformer, tokens: Sequence[int]) -> tuple[Tensor, Tensor]:
    """What the cache holds once `model` has read `tokens`: each (layers, kv_heads, tokens, head_dim)."""
    cache = PagedKVCache(model.config, 1, len(tokens))
    forward(model, cache, [Chunk(tokens, 0, [0])])
    return cache.keys, cache.values


def to_levels(numbers: Tensor, scale: Tensor) -> Tensor:
    """Nearest levels -127…127, int8; what is beyond them becomes the last one."""
    return (numbers / scale).round_().clamp_(-EIGHT_BIT, EIGHT_BIT).to(torch.int8)


def from_levels(levels: Tensor, scale: Tensor) -> Tensor:
    """Level times scale, float32; NaN where nothing was written."""
    return (levels.float() * scale).masked_fill_(levels == UNWRITTEN, torch.nan)


def round_trip(numbers: Tensor, scale: Tensor | None) -> Tensor:
    """What is read back of `numbers` (layers, kv_heads, tokens, head_dim), written with `scale` or, if
    None, each token of each head with its own."""
    scale = token_scale(numbers) if scale is None else scale
    return from_levels(to_levels(numbers, scale), scale)


def token_scale(numbers: Tensor) -> Tensor:
    """Scale of each vector of `numbers` (…, head_dim): (…, 1), rounded to bfloat16 as it is stored."""
    return _scale(numbers, (numbers.ndim - 1,)).bfloat16().float()


def _scale(numbers: Tensor, dimensions: tuple[int, ...]) -> Tensor:
    return (numbers.abs().amax(dimensions, keepdim=True) / EIGHT_BIT).clamp_min(SMALLEST_SCALE)


class Int8KVCache(PagedKVCache):
    """A `PagedKVCache` of int8 numbers, to be used in its place.

    `key_scale` and `value_scale` are fixed, or bfloat16 (layers, kv_heads, slots, 1) in which each
    token's own are kept. Raises `ValueError` for a pool without room.
    """

    unwritten = UNWRITTEN

    def __init__(self, config: ModelConfig, pages: int, page_size: int, scales: KVScales) -> None:
        super().__init__(config, pages, page_size, dtype=torch.bfloat16)
        self.scales = scales
        slots = self.keys[..., :1]
        self.key_scale = slots.clone() if scales.keys is None else scales.keys
        self.value_scale = slots.clone() if scales.values is None else scales.values
        self.keys = torch.full(self.keys.shape, UNWRITTEN, dtype=torch.int8)
        self.values = self.keys.clone()

    @property
    def bytes(self) -> int:
        """Bytes of memory that the pool occupies, scales included."""
        return super().bytes + self.key_scale.nbytes + self.value_scale.nbytes

    def write(self, layer: int, slots: Tensor, keys: Tensor, values: Tensor) -> None:
        """Round and store one row per slot: `keys` and `values` are (rows, kv_heads, head_dim)."""
        _store(self.keys, self.key_scale, layer, slots, keys, self.scales.keys is None)
        _store(self.values, self.value_scale, layer, slots, values, self.scales.values is None)

    def read(self, layer: int, slots: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values of `slots` as float32, each (kv_heads, len(slots), head_dim)."""
        keys = _load(self.keys, self.key_scale, layer, slots, self.scales.keys is None)
        return keys, _load(self.values, self.value_scale, layer, slots, self.scales.values is None)

    def copy_page(self, source: int, target: int) -> None:
        """Copy all tokens of page `source` to page `target`, their own scales too."""
        super().copy_page(source, target)
        for scale, own in (
            (self.key_scale, self.scales.keys is None),
            (self.value_scale, self.scales.values is None),
        ):
            if own:
                scale[:, :, self._slots(target)] = scale[:, :, self._slots(source)]

    def grow(self, pages: int) -> None:
        """Enlarge the pool to `pages` pages, with room for the scales of their tokens."""
        added = (pages - self.pages) * self.page_size
        super().grow(pages)
        if added > 0 and self.scales.keys is None:
            self.key_scale = self._lengthened(self.key_scale, added)
        if added > 0 and self.scales.values is None:
            self.value_scale = self._lengthened(self.value_scale, added)


def _store(memory: Tensor, scale: Tensor, layer: int, slots: Tensor, rows: Tensor, own: bool) -> None:
    numbers = rows.transpose(0, 1)
    used = token_scale(numbers) if own else _of_layer(scale, layer)
    memory[layer].index_copy_(1, slots, to_levels(numbers, used))
    if own:
        scale[layer].index_copy_(1, slots, used.to(scale.dtype))


def _load(memory: Tensor, scale: Tensor, layer: int, slots: Tensor, own: bool) -> Tensor:
    used = scale[layer].index_select(1, slots).float() if own else _of_layer(scale, layer)
    return from_levels(memory[layer].index_select(1, slots), used)


def _of_layer(scale: Tensor, layer: int) -> Tensor:
    return scale[layer] if len(scale) > 1 else scale[0]
