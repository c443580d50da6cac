"""The figures of a benchmark, as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from engine.bench.timing import percentile


class Spread(msgspec.Struct, frozen=True):
    """What many waits were like, in seconds."""

    count: int
    p50: float
    p95: float
    longest: float


def spread(seconds: Sequence[float]) -> Spread | None:
    """The spread of some waits, None for none."""
    if not seconds:
        return None
    return Spread(len(seconds), percentile(seconds, 50), percentile(seconds, 95), max(seconds))


class Weight(msgspec.Struct, frozen=True):
    """What a cold browser loads: bytes as they travel, requests, bytes by kind, hosts that are not ours."""

    bytes: int
    requests: int
    kinds: dict[str, int]
    outside: list[str]
    second_visit: int


class Browser(msgspec.Struct):
    """What a real Chromium saw. ``sent`` are the frames that it sent while a recorded run played."""

    cold: Weight | None = None
    ready: float | None = None
    alone: Spread | None = None
    together: Spread | None = None
    beside: int = 0
    played_ticks: int = 0
    sent: int | None = None


class Figures(msgspec.Struct):
    """All that was measured; None: not measured. Bytes per step are those of one learner."""

    machine: dict[str, Any]
    asked: dict[str, Any]
    joined: int = 0
    join: Spread | None = None
    last_usable: float | None = None
    cpu_per_join: float | None = None
    memory_per_join: float | None = None
    memory_per_learner: float | None = None
    draft: Spread | None = None
    lock: Spread | None = None
    new_tick: Spread | None = None
    step_alone: Spread | None = None
    step_together: Spread | None = None
    cpu_per_step: float | None = None
    step_bytes: int | None = None
    step_bytes_unpacked: int | None = None
    step_bytes_up: int | None = None
    end: Spread | None = None
    verdict: Spread | None = None
    idle_cpu: float | None = None
    weight: Weight | None = None
    browser: Browser | None = None
    errors: list[str] = []
