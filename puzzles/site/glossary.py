"""Which terms the glossary explains, in groups; the words are in the catalogue."""

from __future__ import annotations

from typing import NamedTuple


class Group(NamedTuple):
    """A heading and its terms."""

    name: str
    terms: tuple[str, ...]


GROUPS = (
    Group("work", ("token", "tick", "prefill", "decode", "prompt", "slot")),
    Group(
        "times",
        ("ttft", "tpot", "itl", "e2e", "queue", "p95", "censored", "slo", "goodput", "throughput", "little"),
    ),
    Group(
        "admission",
        (
            "trace",
            "backlog",
            "immediate",
            "static",
            "continuous",
            "head_of_line",
            "active",
            "chunked",
            "preemption",
        ),
    ),
    Group("memory", ("kv", "page", "table", "contiguous", "fragmentation", "reserved", "held", "written")),
    Group("weights", ("quantization", "logit", "teacher_forced")),
)
