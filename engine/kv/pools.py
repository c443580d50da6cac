"""Which allocator a service asks for."""

from __future__ import annotations

from collections.abc import Iterable

from engine.errors import InputError
from engine.kv.pages import ContiguousPool, PagePool, Pool
from engine.kv.prefix import PrefixIndex
from engine.requests import Request
from engine.service import Service


def longest(requests: Iterable[Request]) -> int:
    """The longest prompt + output of ``requests``, in tokens."""
    return max((r.prompt_tokens + r.output_tokens for r in requests), default=1)


def make_pool(service: Service, length: int) -> Pool:
    """The allocator that ``service.kv_layout`` names; ``length`` (slots) is the default of ``max_len``."""
    if service.kv_layout == "paged":
        index = PrefixIndex(service.page_size) if service.prefix_cache else None
        return PagePool(service.pages, service.page_size, index)
    if service.slots is None:
        raise InputError.of("endless_run", at="pages", layout=service.kv_layout)
    exact = service.kv_layout == "contiguous_exact"
    return ContiguousPool(service.slots, None if exact else service.max_len or length)
