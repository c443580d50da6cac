"""One forward per tick over all tokens of the tick, keys and values in pages.

Two ways to run it:

* fast (`tile=None`): all rows in one matrix product per layer. How a product rounds depends on
  how many rows it has, so a request's last bits depend on its neighbours.
* exact (`tile=8`, see `exact_tile`): every row passes through the model in a tile of a fixed
  number of rows against a number of keys that follows from its position alone. All kernels see
  the same shapes whoever shares the tick, however a prompt is cut and wherever its pages are, so
  a request's logits are the same to the last bit.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from torch.nn import functional

from engine.model.cache import PagedKVCache
from engine.model.config import ModelConfig
from engine.model.layout import Chunk, Group, Layout, check_chunks, lay_out
from engine.model.transformer import Transformer, rotate

SMALLEST_BUCKET = 64
"""Keys that a row of exact mode sees at least, padding included; then 128, 256, …"""

TILE = 8
"""Rows of one tile in exact mode."""

MANY_ROWS = 64
"""Rows from which on a product goes to oneDNN. Measured with torch 2.13.0 (MKL) on an AMD processor,
the model's four matrices: 1.1 to 1.8 times as fast at 64 rows, 1.8 to 2.2 at 256, slower below 24."""

ONE_DNN = hasattr(torch.ops.mkldnn, "_linear_pointwise")

Row = tuple[int, int]
"""One token of a forward in exact mode: the place of its chunk among the chunks, and its position."""


@torch.inference_mode()
def forward(
    model: Transformer,
    cache: PagedKVCache,
    chunks: Sequence[Chunk],
    *,
    tile: int | None = None,
    every_row: bool = False,
) -> Tensor:
    """Process `chunks`, write their keys and values, and return logits (chunks, vocabulary).

    A chunk attends to positions 0 to its own of its request, through its block table; positions
    before `start` must have been written by earlier calls. The logits are those after the last
    token of each chunk, with `every_row` those after every token, (tokens, vocabulary), chunk
    after chunk. Raises `ValueError` for a chunk that does not fit context, pages or vocabulary.
    """
    check_chunks(chunks, model.config, cache.pages, cache.page_size)
    if tile is not None:
        return _forward_in_tiles(model, cache, chunks, tile, every_row)
    layout = lay_out(chunks, model.config, cache.page_size, every_row=every_row, device=cache.device)
    return _run(model, cache, layout)


def recompute(model: Transformer, sequences: Sequence[Sequence[int]], *, tile: int | None = None) -> Tensor:
    """Logits (sequences, vocabulary) after each whole sequence of tokens, nothing kept between calls.

    This is serving without a KV cache: every call computes all keys and values again.
    """
    longest = max(len(tokens) for tokens in sequences)
    scratch = PagedKVCache(model.config, len(sequences), longest, device=model.embedding.weight.device)
    chunks = [Chunk(tokens, 0, [page]) for page, tokens in enumerate(sequences)]
    return forward(model, scratch, chunks, tile=tile)


def _run(model: Transformer, cache: PagedKVCache, layout: Layout) -> Tensor:
    """Logits of the wanted rows of one layout.

    In a model this small the number of calls costs as much as the arithmetic: hence each attribute
    of a module is looked up once, and norms and products go around their modules where they can.
    """
    hidden = model.embedding(layout.tokens)
    angles = [table.index_select(0, layout.positions).unsqueeze(1) for table in (model.cosine, model.sine)]
    normed = _norm_of(model.config, hidden.device)
    for layer, block in enumerate(model.blocks):
        attention, mlp = block.attention, block.mlp
        joined = product(attention.qkv, normed(hidden, block.attention_norm))
        heads = joined.view(len(hidden), -1, model.config.head_dim)
        hidden += product(attention.output, _attend(heads, angles, cache, layer, layout, model.config))
        gate, up = product(mlp.gate_up, normed(hidden, block.mlp_norm)).chunk(2, -1)
        hidden += product(mlp.down, functional.silu(gate).mul_(up))
    return product(model.head, normed(hidden.index_select(0, layout.wanted), model.norm))


def product(linear: nn.Module, rows: Tensor) -> Tensor:
    """`linear` of `rows`; without the detour through the module for a plain matrix that nobody watches."""
    if type(linear) is not nn.Linear or linear._forward_hooks or linear._forward_pre_hooks:
        watched: Tensor = linear(rows)
        return watched
    if len(rows) >= MANY_ROWS and rows.is_cpu and ONE_DNN:
        many: Tensor = torch.ops.mkldnn._linear_pointwise(rows, linear.weight, linear.bias, "none", [], "")
        return many
    return functional.linear(rows, **linear._parameters)  # type: ignore[arg-type]  # weight and bias


@functools.cache
def _norm_of(config: ModelConfig, device: torch.device) -> Callable[[Tensor, nn.RMSNorm], Tensor]:
    """RMSNorm of rows (rows, width), as vector lengths: torch's own takes twice as many kernels.

    x / sqrt(mean(x²) + e) is x · sqrt(width) / hypot(|x|, sqrt(width · e)).
    """
    floor = torch.tensor(math.sqrt(config.width * config.norm_epsilon), device=device)
    zero, root = torch.zeros((), device=device), math.sqrt(config.width)

    def normed(hidden: Tensor, norm: nn.RMSNorm) -> Tensor:
        length = torch.hypot(torch.linalg.vector_norm(hidden, dim=-1, keepdim=True), floor)
        return torch.addcdiv(zero, hidden, length, value=root).mul_(norm.weight)

    return normed


def _attend(
    heads: Tensor,
    angles: Sequence[Tensor],
    cache: PagedKVCache,
    layer: int,
    layout: Layout,
    config: ModelConfig,
) -> Tensor:
    """Store keys and values of all rows, then let every row read its request's; (rows, query_width).

    `heads` (rows, query_heads + 2 kv_heads, head_dim) are queries, keys and values, not yet turned.
    """
    turned = rotate(heads[:, : -config.kv_heads], *angles)
    queries, keys = turned[:, : config.query_heads], turned[:, config.query_heads :]
    cache.write(layer, layout.write, keys, heads[:, -config.kv_heads :])
    mixed = [
        _attend_group(queries[group.rows], *cache.read(layer, group.read), group, config)
        for group in layout.groups
    ]
    return mixed[0] if len(mixed) == 1 else torch.cat(mixed)


def _attend_group(queries: Tensor, keys: Tensor, values: Tensor, group: Group, config: ModelConfig) -> Tensor:
    """Attention of one group: the queries that share a key/value head are rows of one product.

    `queries` (rows, query_heads, head_dim), `keys` and `values` (kv_heads, chunks · context,
    head_dim); returns (rows, query_width).
    """
    batch, per_head, context = group.mask.shape
    shape = (group.chunks, -1, config.kv_heads, config.query_heads // config.kv_heads, config.head_dim)
    batched = queries.reshape(shape).permute(2, 0, 3, 1, 4).reshape(batch, per_head, config.head_dim)
    keys, values = keys.view(batch, context, -1), values.view(batch, context, -1)
    scores = torch.baddbmm(group.mask, batched, keys.transpose(1, 2), alpha=config.head_dim**-0.5)
    mixed = torch.bmm(torch.softmax(scores, -1), values)
    split = mixed.view(config.kv_heads, group.chunks, shape[3], -1, config.head_dim)
    return split.permute(1, 3, 0, 2, 4).reshape(len(queries), config.query_width)


def _forward_in_tiles(
    model: Transformer, cache: PagedKVCache, chunks: Sequence[Chunk], tile: int, every_row: bool
) -> Tensor:
    """Exact mode: one row after the other, `tile` rows at a time, the earlier positions first."""
    rows = [(place, at) for place, chunk in enumerate(chunks) for at in range(chunk.start, chunk.end)]
    logits: dict[Row, Tensor] = {}
    for context, members in _tiles(rows, model.config.context, tile):
        singles = [_single(chunks[place], position) for place, position in members]
        filled = singles + singles[:1] * (tile - len(singles))
        layout = lay_out(filled, model.config, cache.page_size, context=context, device=cache.device)
        logits.update(zip(members, _run(model, cache, layout), strict=False))
    wanted = rows if every_row else [(place, chunk.end - 1) for place, chunk in enumerate(chunks)]
    return torch.stack([logits[row] for row in wanted])


def _tiles(rows: Sequence[Row], limit: int, tile: int) -> Iterator[tuple[int, list[Row]]]:
    """Numbers of keys and up to `tile` rows that see so many. No request's later position is in an
    earlier tile, so that every row finds the keys of the earlier positions written."""
    buckets: dict[int, list[Row]] = {}
    for row in rows:
        buckets.setdefault(bucket(row[1] + 1, limit), []).append(row)
    for context in sorted(buckets):
        members = buckets[context]
        for first in range(0, len(members), tile):
            yield context, members[first : first + tile]


def bucket(length: int, limit: int) -> int:
    """Number of keys against which exact mode computes a row that has `length` of them."""
    size = SMALLEST_BUCKET
    while size < length:
        size *= 2
    return min(size, limit)


def _single(chunk: Chunk, position: int) -> Chunk:
    return Chunk([chunk.tokens[position - chunk.start]], position, chunk.block_table)


@torch.inference_mode()
def exact_tile(model: Transformer, tile: int = TILE) -> int:
    """The tile for exact mode on this processor: `tile`, if a row's result depends neither on its
    place among `tile` rows nor on the others' content, else 1, which needs no such property.

    Found by trying with the model's own matrices (quantized ones too), because no library promises
    it: a matrix kernel may treat the last rows of a product differently from the first.
    """
    lengths = {min(SMALLEST_BUCKET, model.config.context), model.config.context}
    return tile if all(_places_agree(model, tile, length) for length in lengths) else 1


def known_tile(model: Transformer) -> int:
    """`exact_tile`, tried once for a model as it is: a class starts hundreds of engines on the same weights.

    Tried again when a part of the model was replaced or written to, or the number of threads changed.
    """
    tensors = [*model.parameters(), *model.buffers()]
    written = [(id(one), 0 if one.is_inference() else one._version) for one in tensors]
    state = (torch.get_num_threads(), written, [id(part) for part in model.modules()])
    if model not in _known or _known[model][0] != state:
        _known[model] = (state, exact_tile(model))
    return _known[model][1]


_known: WeakKeyDictionary[Transformer, tuple[object, int]] = WeakKeyDictionary()


def _places_agree(model: Transformer, tile: int, length: int) -> bool:
    """Whether requests of `length` tokens get the same logits at every place of a tile."""
    generator = torch.Generator().manual_seed(length)
    cache = PagedKVCache(model.config, tile, length, device=model.embedding.weight.device)
    cache.keys.normal_(generator=generator)
    cache.values.normal_(generator=generator)
    tokens = torch.randint(model.config.vocabulary, (tile,), generator=generator).tolist()
    chunks = [Chunk([token], length - 1, [page]) for page, token in enumerate(tokens)]
    first = forward(model, cache, chunks, tile=tile)
    for by in range(1, tile):
        shifted = forward(model, cache, chunks[by:] + chunks[:by], tile=tile)
        if not torch.equal(first, shifted.roll(by, 0)):
            return False
    return True
