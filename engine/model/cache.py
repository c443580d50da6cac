"""Keys and values of all requests in one pool of pages.

A *slot* is the place of one token: page times page size plus the place inside the page. Which
page belongs to whom is the block table's business, not the cache's.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

from engine.model.config import ModelConfig


class PagedKVCache:
    """Memory for `pages` pages of `page_size` tokens, in every layer.

    `keys` and `values` have the shape (layers, kv_heads, slots, head_dim). The memory starts as
    NaN: a token that somebody reads before it was written shows at once. Raises `ValueError`
    for a pool without room, and `MemoryError` for one that is larger than the machine's memory.
    """

    unwritten: float = torch.nan
    """What marks a number that nobody has written."""

    def __init__(
        self,
        config: ModelConfig,
        pages: int,
        page_size: int,
        dtype: torch.dtype = torch.float32,
        device: str | torch.device = "cpu",
    ) -> None:
        if pages < 1 or page_size < 1:
            raise ValueError(f"pages and page_size must be at least 1, not {pages} and {page_size}")
        self.pages = pages
        self.page_size = page_size
        shape = (config.layers, config.kv_heads, pages * page_size, config.head_dim)
        try:
            self.keys = torch.full(shape, torch.nan, dtype=dtype, device=device)
            self.values = torch.full_like(self.keys, torch.nan)
        except (RuntimeError, TypeError) as error:  # TypeError: more than a 64-bit number of slots
            raise MemoryError(f"there is no memory for {pages} pages of {page_size} tokens") from error

    @property
    def bytes(self) -> int:
        """Bytes of memory that the pool occupies."""
        return 2 * self.keys.nbytes

    @property
    def device(self) -> torch.device:
        """Where the pool lives."""
        return self.keys.device

    def write(self, layer: int, slots: Tensor, keys: Tensor, values: Tensor) -> None:
        """Store one row per slot: `keys` and `values` are (rows, kv_heads, head_dim)."""
        self.keys[layer].index_copy_(1, slots, keys.transpose(0, 1).to(self.keys.dtype))
        self.values[layer].index_copy_(1, slots, values.transpose(0, 1).to(self.values.dtype))

    def read(self, layer: int, slots: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values of `slots`, each (kv_heads, len(slots), head_dim), as float32 copies."""
        keys, values = self.keys[layer].index_select(1, slots), self.values[layer].index_select(1, slots)
        return keys.float(), values.float()

    def copy_page(self, source: int, target: int) -> None:
        """Copy all tokens of page `source` to page `target`: the copy of copy-on-write."""
        for memory in (self.keys, self.values):
            memory[:, :, self._slots(target)] = memory[:, :, self._slots(source)]

    def poison(self, pages: Sequence[int]) -> None:
        """Mark the slots of `pages` as unwritten: reading one before it is written again gives NaN."""
        for page in pages:
            self.keys[:, :, self._slots(page)] = self.unwritten
            self.values[:, :, self._slots(page)] = self.unwritten

    def grow(self, pages: int) -> None:
        """Enlarge the pool to `pages` pages; what is written stays. Does nothing when it is that large."""
        added = (pages - self.pages) * self.page_size
        if added <= 0:
            return
        self.keys = self._lengthened(self.keys, added)
        self.values = self._lengthened(self.values, added)
        self.pages = pages

    def _lengthened(self, memory: Tensor, slots: int) -> Tensor:
        """`memory` with so many more unwritten slots behind the last."""
        return functional.pad(memory, (0, 0, 0, slots), value=self.unwritten)  # (left, right) of each axis

    def _slots(self, page: int) -> slice:
        return slice(page * self.page_size, (page + 1) * self.page_size)
