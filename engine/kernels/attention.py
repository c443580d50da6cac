"""Attention twice: through the matrix of all scores, and in tiles that never build it.

Shapes: queries are (heads, queries, head_dim), keys and values (heads, keys, head_dim), with at
least as many keys as queries. With `causal` the last query sees all keys, the one before it all but
one, and so on: the queries are the newest tokens of a text.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

TILE = 256
"""Rows and columns of a tile of scores."""


def whole(queries: Tensor, keys: Tensor, values: Tensor, *, causal: bool = True) -> Tensor:
    """Scores of every query with every key, softmax over each row, mix of the values.

    The matrix (heads, queries, keys) is written, read, written and read again.
    """
    scores = queries @ keys.transpose(-1, -2) * queries.shape[-1] ** -0.5
    if causal:
        scores = scores.masked_fill(_future(queries.shape[-2], keys.shape[-2]), -math.inf)
    return torch.softmax(scores, -1) @ values


def tiled(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    *,
    causal: bool = True,
    rows: int = TILE,
    columns: int = TILE,
) -> Tensor:
    """The same in tiles of `rows` queries and `columns` keys, softmax kept up to date as keys come.

    Nothing larger than a tile is ever in memory beside the output. Raises `ValueError` for an
    empty tile.
    """
    if rows < 1 or columns < 1:
        raise ValueError(f"a tile needs at least 1 row and 1 column, not {rows} and {columns}")
    output = torch.empty_like(queries)
    for first in range(0, queries.shape[-2], rows):
        tile = queries[..., first : first + rows, :]
        before = keys.shape[-2] - queries.shape[-2] + first  # keys that all of the tile may see
        output[..., first : first + rows, :] = _rows(tile, keys, values, before, causal, columns)
    return output


def _rows(queries: Tensor, keys: Tensor, values: Tensor, before: int, causal: bool, columns: int) -> Tensor:
    """One tile of queries against all keys, `columns` of them at a time.

    Three things are carried along: the largest score so far, the sum of exp(score - largest), and
    the values mixed with those weights. A larger score later scales down what was summed before.
    """
    count = queries.shape[-2]
    largest = queries.new_full((*queries.shape[:-1], 1), -math.inf)
    total, mixed = torch.zeros_like(largest), torch.zeros_like(queries)
    queries = queries * queries.shape[-1] ** -0.5
    for start in range(0, before + count if causal else keys.shape[-2], columns):
        end = min(start + columns, before + count) if causal else start + columns
        scores = queries @ keys[..., start:end, :].transpose(-1, -2)
        if causal and end > before + 1:
            scores.masked_fill_(_future(count, scores.shape[-1], before + 1 - start), -math.inf)
        higher = torch.maximum(largest, scores.amax(-1, keepdim=True))
        weights, shrink = scores.sub_(higher).exp_(), (largest - higher).exp_()
        total = total.mul_(shrink).add_(weights.sum(-1, keepdim=True))
        mixed = mixed.mul_(shrink).add_(weights @ values[..., start:end, :])
        largest = higher
    return mixed / total


def _future(rows: int, columns: int, seen: int | None = None) -> Tensor:
    """True where a row must not look: row i sees the first `seen` + i columns (None: the last row
    sees all)."""
    seen = columns - rows + 1 if seen is None else seen
    return torch.ones(rows, columns, dtype=torch.bool).triu(seen)
