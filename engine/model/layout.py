"""From the chunks of one tick to the index tensors that all layers of its forward share.

Built once per tick with numpy, because a hundred small tensor operations would cost more than
the arithmetic of a small model.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.model.config import ModelConfig

Integers = NDArray[numpy.int64]


@dataclass(frozen=True, slots=True)
class Chunk:
    """Consecutive tokens of one request that one forward processes.

    `start` is the position of the first of them in the request (0 is the first prompt token) and
    `block_table` lists the request's pages in the order of its positions. A prefill chunk has
    one or more tokens, a decode step has one.
    """

    tokens: Sequence[int]
    start: int
    block_table: Sequence[int]

    @property
    def end(self) -> int:
        """Positions of the request that are written once this chunk is processed."""
        return self.start + len(self.tokens)

    @property
    def positions(self) -> range:
        """The positions of its tokens."""
        return range(self.start, self.end)


@dataclass(frozen=True, slots=True)
class Group:
    """Chunks of equal length that attend in one batched product.

    `rows` is where their tokens stand among the rows of the layout, chunk after chunk. `read`
    (chunks · context) are the slots of their keys. `mask` is what is added to the scores,
    (kv_heads · chunks, queries per kv head · tokens per chunk, context): 0, or -inf for a
    position that is later than the token or only padding.
    """

    rows: slice
    chunks: int
    read: Tensor
    mask: Tensor


@dataclass(frozen=True, slots=True)
class Layout:
    """The rows of one forward: their tokens, positions and slots to write, each (rows,),
    the groups in which they attend, and the rows whose logits are wanted, in the caller's order."""

    tokens: Tensor
    positions: Tensor
    write: Tensor
    groups: tuple[Group, ...]
    wanted: Tensor


def check_chunks(chunks: Sequence[Chunk], config: ModelConfig, pages: int, page_size: int) -> None:
    """Raise `ValueError`, naming chunk and number, unless every chunk can be processed."""
    if not chunks:
        raise ValueError("a forward needs at least one chunk")
    for place, chunk in enumerate(chunks):
        fault = _fault(chunk, config, pages, page_size)
        if fault:
            raise ValueError(f"chunk {place}: {fault}")


def _fault(chunk: Chunk, config: ModelConfig, pages: int, page_size: int) -> str | None:
    if not chunk.tokens:
        return "has no tokens"
    if chunk.start < 0 or chunk.end > config.context:
        return f"positions {chunk.start} to {chunk.end - 1} are not within the context of {config.context}"
    if len(chunk.block_table) * page_size < chunk.end:
        return f"{len(chunk.block_table)} pages of {page_size} hold no {chunk.end} tokens"
    if min(chunk.block_table) < 0 or max(chunk.block_table) >= pages:
        return f"a page of {list(chunk.block_table)} is not among the {pages} pages of the cache"
    if min(chunk.tokens) < 0 or max(chunk.tokens) >= config.vocabulary:
        return f"a token is not among the {config.vocabulary} of the vocabulary"
    return None


def lay_out(
    chunks: Sequence[Chunk],
    config: ModelConfig,
    page_size: int,
    *,
    context: int | None = None,
    every_row: bool = False,
    device: torch.device | None = None,
) -> Layout:
    """The layout of a forward over `chunks`; chunks of equal length share a group.

    Keys are padded to the longest context of the group, or to `context` when given. Wanted is
    the last row of each chunk, with `every_row` all rows, both in the order of `chunks`.
    """
    order = sorted(range(len(chunks)), key=lambda place: len(chunks[place].tokens))
    groups, write, first_row = [], [], 0
    for length, run in itertools.groupby(order, lambda place: len(chunks[place].tokens)):
        members = [chunks[place] for place in run]
        rows = slice(first_row, first_row + length * len(members))
        groups.append(_group(members, rows, config, page_size, context, device))
        write += [_slots(tuple(chunk.block_table), page_size)[chunk.start : chunk.end] for chunk in members]
        first_row = rows.stop
    return Layout(
        _tensor(_integers(token for place in order for token in chunks[place].tokens), device),
        _tensor(_integers(at for place in order for at in chunks[place].positions), device),
        _tensor(numpy.concatenate(write), device),
        tuple(groups),
        _tensor(_integers(_wanted(chunks, order, every_row)), device),
    )


def _wanted(chunks: Sequence[Chunk], order: Sequence[int], every_row: bool) -> list[int]:
    """Rows whose logits are wanted, when the chunks' rows follow each other in `order`."""
    rows, first = {}, 0
    for place in order:
        rows[place] = range(first, first + len(chunks[place].tokens))
        first = rows[place].stop
    kept = (rows[place] if every_row else rows[place][-1:] for place in range(len(chunks)))
    return [row for rows_of_chunk in kept for row in rows_of_chunk]


def _group(
    members: Sequence[Chunk],
    rows: slice,
    config: ModelConfig,
    page_size: int,
    context: int | None,
    device: torch.device | None,
) -> Group:
    """The group of equally long chunks whose tokens stand in `rows`."""
    length, shared = len(members[0].tokens), config.query_heads // config.kv_heads
    context = context or max(chunk.end for chunk in members)
    read = numpy.empty((len(members), context), numpy.int64)
    mask = numpy.empty((config.kv_heads, len(members), shared, length, context), numpy.float32)
    future = _future(config.context)
    for place, chunk in enumerate(members):
        slots = _slots(tuple(chunk.block_table), page_size)
        # A column beyond the chunk's end repeats the request's first token: that one is written, so
        # its weight of zero meets a number. A free slot may hold NaN, and zero times NaN is NaN.
        read[place, : chunk.end] = slots[: chunk.end]
        read[place, chunk.end :] = slots[0]
        mask[:, place] = future[chunk.start : chunk.end, :context]
    shape = (config.kv_heads * len(members), shared * length, context)
    return Group(rows, len(members), _tensor(read.reshape(-1), device), _tensor(mask.reshape(shape), device))


@functools.lru_cache(1024)
def _slots(block_table: tuple[int, ...], page_size: int) -> Integers:
    """The slots of a request's positions; kept, because its next tick asks again. Never written to."""
    return (_integers(block_table)[:, None] * page_size + numpy.arange(page_size)).reshape(-1)


@functools.cache
def _future(context: int) -> NDArray[numpy.float32]:
    """What hides later positions, (context, context): row p is 0 up to column p, then -inf."""
    return numpy.triu(numpy.full((context, context), -numpy.inf, numpy.float32), 1)


def _integers(values: Iterable[int]) -> Integers:
    return numpy.array(list(values), numpy.int64)


def _tensor(array: NDArray[numpy.int64] | NDArray[numpy.float32], device: torch.device | None) -> Tensor:
    tensor = torch.from_numpy(array)
    return tensor if device is None else tensor.to(device)
