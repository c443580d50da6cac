"""The three ledgers of each run at the page's tick: prefill, decode slots, KV; and the queue."""

from __future__ import annotations

from typing import ClassVar

from app.components.base import RunComponent


class Strip(RunComponent):
    """Always in view: what of each capacity this tick uses."""

    _bundle = "strip.js"
    _section: ClassVar[str] = "strip"
