"""What the requests have been given so far, and each tick in words."""

from __future__ import annotations

from typing import ClassVar

import param

from app.components.base import RunComponent


class Streams(RunComponent):
    """Text so far and its bytes, per request and run, at the page's tick."""

    prompts = param.Dict(default={}, doc="Prompt of each request, shown before its output; may be left out.")

    _bundle = "streams.js"
    _section: ClassVar[str] = "streams"


class Log(RunComponent):
    """What happened in the page's tick, one sentence per event; the whole log behind a toggle."""

    _bundle = "log.js"
    _section: ClassVar[str] = "log"
