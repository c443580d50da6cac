"""The settings of a service (SEMANTICS §1), checked when it is built."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import msgspec

from engine.errors import InputError
from engine.exact import seconds
from engine.requests import LONGEST, count

WEIGHTS = ("fp32", "int8", "int4")  # of the torch engine; a ledger has none
POLICIES = ("immediate", "static", "continuous")
DECODE_ORDERS = ("fcfs", "round_robin", "shortest", "priority")
QUEUE_ORDERS = ("fcfs", "priority", "shortest")
KV_RESERVES = ("full", "on_demand")
KV_LAYOUTS = ("paged", "contiguous", "contiguous_exact")

CHOICES = {
    "policy": POLICIES,
    "decode_order": DECODE_ORDERS,
    "queue_order": QUEUE_ORDERS,
    "kv_reserve": KV_RESERVES,
    "kv_layout": KV_LAYOUTS,
}
COUNTS = ("prefill_budget", "decode_slots", "batch_size", "kv_bytes_per_token", "page_size")
LIMITS = (
    "max_active",
    "shared_budget",
    "max_skip",
    "pages",
    "max_len",
    "speculate",
)  # None: no limit, or off
SWITCHES = ("chunked_prefill", "prefix_cache")


class Service(msgspec.Struct, frozen=True, kw_only=True):
    """How the service decides. Immutable; raises InputError when a setting makes no sense.

    The defaults are those of the lab's main exercise, a toy: its pool holds 64 tokens.

    tick                seconds a tick lasts, exact decimal
    prefill_budget      prompt tokens in one tick, over all requests
    decode_slots        sequences that advance by one token in one tick
    policy              immediate (one at a time), static, continuous
    batch_size          static: size of a batch
    max_wait            static: seconds the oldest waiting request may be held to fill a batch
    max_active          continuous: cap on admitted, unfinished requests; None for no cap
    chunked_prefill     a prompt may be split over ticks and share a tick's budget
    shared_budget       one token budget for decodes and prefill together; None for two budgets
    decode_order        fcfs, round_robin, shortest (fewest tokens left), priority
    queue_order         fcfs, priority, shortest (fewest tokens): who is at the head of the queue
    max_skip            shortest, priority: how often a request is passed over before it goes first
    kv_bytes_per_token  the toy k, in bytes (1 MB = 1,000,000 bytes)
    page_size, pages    tokens in a KV page; pages in the pool, None for an unlimited pool
    kv_reserve          full: prompt + output at admission; on_demand: as tokens are written
    kv_layout           paged; contiguous (max_len slots each); contiguous_exact (prompt + output)
    max_len             slots per request under contiguous; None: the trace's longest prompt + output,
                        and for what is submitted to a live engine the context of its model
    prefix_cache        full pages of earlier requests are reused by those that begin with the same text
    speculate           draft tokens tried per decode step; None for plain decoding
    """

    policy: str = "continuous"
    tick: Decimal = Decimal("0.1")
    prefill_budget: int = 24
    decode_slots: int = 3
    batch_size: int = 3
    max_wait: Decimal = Decimal(0)
    max_active: int | None = None
    chunked_prefill: bool = True
    shared_budget: int | None = None
    decode_order: str = "fcfs"
    queue_order: str = "fcfs"
    max_skip: int | None = None
    kv_bytes_per_token: int = 250_000
    page_size: int = 4
    pages: int | None = 16
    kv_reserve: str = "full"
    kv_layout: str = "paged"
    max_len: int | None = None
    prefix_cache: bool = False
    speculate: int | None = None

    def __post_init__(self) -> None:
        for name, allowed in CHOICES.items():
            _one_of(name, getattr(self, name), allowed)
        for name in COUNTS:
            count(getattr(self, name), name)
        for name in LIMITS:
            if getattr(self, name) is not None:
                count(getattr(self, name), name)
        if self.max_len is not None:
            count(self.max_len, "max_len", most=LONGEST)
        for name in SWITCHES:
            if not isinstance(getattr(self, name), bool):
                raise InputError.of("not_a_switch", at=name, value=repr(getattr(self, name)))
        self._set_seconds()
        if self.kv_layout != "paged" and self.kv_reserve == "on_demand":
            raise InputError.of("on_demand_contiguous", at="kv_reserve")
        if self.kv_layout != "paged" and self.prefix_cache:
            raise InputError.of("shared_contiguous", at="prefix_cache")

    def _set_seconds(self) -> None:
        tick = seconds(self.tick, "tick")
        if tick <= 0:
            raise InputError.of("no_length", at="tick", value=self.tick)
        max_wait = seconds(self.max_wait, "max_wait")
        if max_wait < 0:
            raise InputError.of("negative_wait", at="max_wait", value=self.max_wait)
        msgspec.structs.force_setattr(self, "tick", tick)
        msgspec.structs.force_setattr(self, "max_wait", max_wait)

    def replace(self, **changes: Any) -> Service:
        """A service with ``changes`` applied and checked again."""
        return msgspec.structs.replace(self, **changes)

    @property
    def slots(self) -> int | None:
        """KV slots (tokens) in the pool, None when unlimited."""
        return None if self.pages is None else self.pages * self.page_size


def _one_of(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise InputError.of("not_one_of", at=name, value=repr(value), allowed=allowed)


def checked_service(service: object) -> Service:
    """``service``, the default one for None. Raises InputError for anything else."""
    if service is None:
        return Service()
    if not isinstance(service, Service):
        raise InputError.of("no_service", at="service", value=repr(service))
    return service


SETTINGS = tuple(Service.__struct_fields__)
