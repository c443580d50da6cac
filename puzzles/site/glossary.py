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
        (
            "ttft",
            "tpot",
            "itl",
            "e2e",
            "queue",
            "p95",
            "censored",
            "slo",
            "attainment",
            "goodput",
            "throughput",
            "little",
        ),
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
            "max_wait",
            "max_active",
            "shared_budget",
            "round_robin",
            "preemption",
        ),
    ),
    Group(
        "memory",
        (
            "kv",
            "kv_head",
            "mla",
            "page",
            "table",
            "contiguous",
            "fragmentation",
            "reserved",
            "held",
            "written",
            "prefix_cache",
        ),
    ),
    Group("machine", ("intensity", "roofline", "fusion", "flash_attention")),
    Group("speculation", ("draft", "acceptance", "round")),
    Group("weights", ("quantization", "rtn", "gptq", "logit", "teacher_forced", "distillation", "pruning")),
)
