"""Which quantities only a real load test gives, and which are known before: the list one chooses from.

The reason for each stands in the catalogue, as ``variable.<name>.why``.
"""

from __future__ import annotations

# True: only a real load test gives it. The order is that of the page.
VARIABLES = {
    "step_time": True,
    "page_size": False,
    "burstiness": True,
    "kv_per_token": False,
    "output_lengths": True,
    "prompt_tokens": False,
    "prefix_hits": True,
    "weight_bytes": False,
    "network_tail": True,
    "inside": False,
    "neighbours": True,
}


def right_picks(picked: tuple[str, ...]) -> int:
    """How many of the picked are only known from a load test."""
    return sum(VARIABLES[name] for name in picked)


def passed(picked: tuple[str, ...], least: int = 3) -> bool:
    """At least ``least`` right and none wrong."""
    return len(picked) == right_picks(picked) >= least
