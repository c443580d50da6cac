"""Which other values of a setting are worth a try on a run."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from engine import Service
from engine.service import CHOICES, SWITCHES
from puzzles.play.facts import Facts

COUNTED = {  # setting → the fact at which it stops to bind
    "decode_slots": "ready",
    "prefill_budget": "prefill",
    "shared_budget": "tokens",
    "max_active": "active",
    "pages": "pages",
    "batch_size": "requests",
}
ENDLESS = ("shared_budget", "max_active", "pages")  # None takes the limit away


def trials(name: str, service: Service, facts: Facts) -> list[Any]:
    """Other values of the setting ``name``, the nearest first; none where a try would tell nothing."""
    value = getattr(service, name)
    if name in SWITCHES:
        found: Iterable[Any] = (not value,)
    elif name in CHOICES:
        found = CHOICES[name]
    elif name in COUNTED:
        found = _counts(name, value, getattr(facts, COUNTED[name]))
    else:
        found = _others(name, value, service)
    return [one for one in dict.fromkeys(found) if one != value]


def _counts(name: str, value: int | None, most: int) -> list[int | None]:
    """Around the value that is set, and around the one at which it stops to bind."""
    near = [] if value is None else [value - 1, value + 1, value // 2, value * 2]
    found = [one for one in (*near, most, most - 1, 1) if one >= 1]
    return [*found, None] if name in ENDLESS else list(found)


def _others(name: str, value: Any, service: Service) -> list[Any]:
    if name == "max_wait":
        return [Decimal(0), *(service.tick * ticks for ticks in (1, 2, 4))]
    if name == "max_skip":
        return [None, 1, 2]
    if name == "page_size":
        return [one for one in (value // 2, value * 2, 1) if one >= 1]
    if name == "max_len" and value is not None:
        return [None, value * 2]
    return []
