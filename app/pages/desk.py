"""Joins the page and the lesson: what the learner does comes in, where the lesson stands goes out."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any, ClassVar

import param

from app.components.lean import LeanComponent
from app.journal import tell

COMMANDS = {"read": (), "observe": ("text",), "reveal": (), "again": ()}


class Desk(LeanComponent):
    """Draws nothing of its own: it moves the page's sections through the six steps.

    ``command`` is the last thing the learner asked for: ``name`` and its texts. Nothing is believed
    about it; the lesson decides.
    """

    state = param.Dict(
        default={}, doc="Where the lesson stands: ``step``, ``attempt``, ``locked``, ``done`` …"
    )

    message = param.Dict(
        default={}, doc="The last sentence for the learner: ``text``, ``kind``, ``number``, ``link``."
    )

    verdict = param.String(default="", doc="HTML of the verdict, empty until it is revealed.")

    session = param.String(default="", doc="Changes when the server has made a new session under our feet.")

    command = param.Parameter(default=None, doc="The last command, for those who watch.")

    _bundle = "desk.js"
    _rename: ClassVar[dict[str, str | None]] = {"command": None}
    _css: ClassVar[list[Path]] = [Path("page.css")]
    _js: ClassVar[list[Path]] = [Path("connection.js"), Path("theme.js")]

    def _handle_msg(self, data: Any) -> None:
        """One command of the browser, if it has the form of one."""
        command = clean(data)
        if command is None:
            tell("message.refused", logging.WARNING, sparing=True)
            return
        with param.discard_events(self):
            self.command = command
        self.param.trigger("command")  # once, and also for the same command again


def clean(data: Any) -> dict[str, str] | None:
    """``data`` as a command with exactly its texts, None when it is none."""
    if not isinstance(data, dict) or not isinstance(data.get("name"), str) or data["name"] not in COMMANDS:
        return None
    texts = {name: data.get(name) for name in COMMANDS[data["name"]]}
    if not all(isinstance(text, str) and len(text) <= 500 for text in texts.values()):
        return None
    return {"name": data["name"], **texts}
