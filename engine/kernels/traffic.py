"""Bytes that go between memory and a cache of a given size: computed, not measured.

The rule is the simple one of textbooks: what an operation writes and the next one reads stays in
the cache if all of it fits, else it goes out to memory and comes back. Numbers are float32.
"""

from __future__ import annotations

FLOAT = 4


def whole_bytes(length: int, head_dim: int, cache: int) -> int:
    """Attention of one head over `length` tokens through the matrix of all scores, no mask.

    Queries, keys and values come in and the output goes out. The matrix is written by the first
    product, read and written by softmax, read by the second product: four more passes over it,
    unless it fits into `cache` bytes.
    """
    scores = FLOAT * length * length
    return 4 * FLOAT * length * head_dim + (4 * scores if scores > cache else 0)


def tiled_bytes(length: int, head_dim: int, rows: int, cache: int) -> int:
    """The same in tiles of `rows` queries: every tile of queries needs all keys and values again,
    unless they fit into `cache` bytes; no scores ever leave it."""
    rest = 2 * FLOAT * length * head_dim  # queries in, output out
    pairs = 2 * FLOAT * length * head_dim  # keys and values
    return rest + (-(-length // rows) * pairs if pairs > cache else pairs)


def tile_bytes(head_dim: int, rows: int, columns: int) -> int:
    """What a tile needs at a time: queries, mixed values, keys, values, scores. It has to fit."""
    return FLOAT * (2 * rows * head_dim + 2 * columns * head_dim + rows * columns)


def swiglu_bytes(rows: int, width: int, *, fused: bool) -> int:
    """sigmoid reads 1 and writes 1, each product reads 2 and writes 1; fused reads 2 and writes 1."""
    return (3 if fused else 8) * FLOAT * rows * width


def norm_product_bytes(rows: int, width: int, outputs: int, *, fused: bool) -> int:
    """Squares, mean, division and scale go through the rows 7 times before the product reads them;
    fused they are read once. The matrix is read once: it has to fit into the cache."""
    return FLOAT * ((1 if fused else 8) * rows * width + outputs * width + rows * outputs)
