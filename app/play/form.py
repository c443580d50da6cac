"""The settings as the form shows them: in groups, each with its default and what it takes."""

from __future__ import annotations

import re
from typing import Any

from engine import Service
from engine.cli.figures import setting_text
from engine.service import CHOICES, SETTINGS, SWITCHES
from engine.words import engine_words

FLAGS = re.compile(r"\s*[(（][^()（）]*--[^()（）]*[)）]")  # what only a command line needs to know
GROUPS = {
    "admission": ("policy", "batch_size", "max_wait", "max_active", "queue_order", "max_skip"),
    "tick": ("tick", "prefill_budget", "decode_slots", "shared_budget", "chunked_prefill", "decode_order"),
    "memory": (
        *("pages", "page_size", "kv_reserve", "kv_layout", "max_len"),
        *("kv_bytes_per_token", "prefix_cache"),
    ),
    "engine": ("speculate",),
}


def defaults() -> dict[str, str]:
    """Every setting's default, as it is typed."""
    service = Service()
    return {name: setting_text(getattr(service, name)) for name in SETTINGS}


def groups(language: str) -> list[dict[str, Any]]:
    """The groups with their fields, in order."""
    words, known = engine_words(language), defaults()
    return [
        {"name": name, "fields": [_field(one, known[one], words(f"flag.{one}")) for one in fields]}
        for name, fields in GROUPS.items()
    ]


def _field(name: str, default: str, text: str) -> dict[str, Any]:
    choices = CHOICES.get(name) or (("true", "false") if name in SWITCHES else None)
    return {"name": name, "default": default, "text": FLAGS.sub("", text), "choices": choices}
