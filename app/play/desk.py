"""The form of free play: what is typed goes to the server when something is asked for, not before."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import param

from app.components.lean import LeanComponent
from app.play.sheet import MOST_BYTES, Sheet, sheet_of

WISHES = ("run", "look", "share", "csv", "json", "chrome")
MOST_SIGNS = 3 * MOST_BYTES  # of a sheet as JSON: two traces and what is escaped in them
PIECES = 64


class PlayDesk(LeanComponent):
    """Moves what the template shows. ``wish`` is the last thing asked for and its sheet, nothing believed.

    A sheet may be longer than a message of a websocket: it comes in pieces.
    """

    sheet = param.Dict(default={}, doc="What the form shows at first.")

    shared = param.Boolean(default=False, doc="Whether that came by a short link.")

    presets = param.List(default=[], item_type=dict, doc="``name``, ``trace`` and ``settings`` of each.")

    defaults = param.Dict(default={}, doc="Every setting's default, as text.")

    texts = param.Dict(default={}, doc="The words that the script says.")

    status = param.Dict(default={}, doc="What is going on: ``state``, ``text``, ``number``.")

    problem = param.Dict(
        default={}, doc="What is wrong: ``text``, ``field`` (a setting, or trace), ``number``."
    )

    seen = param.String(default="", doc="HTML of what the trace holds.")

    html = param.String(default="", doc="HTML of the tables above the pictures.")

    details = param.String(default="", doc="HTML of the tables below.")

    switches = param.Dict(default={}, doc="``sentences`` by setting, and which settings are ``dead``.")

    short_link = param.Dict(default={}, doc="The short link: ``code``, ``number``.")

    file = param.Dict(default={}, doc="A file that was made: ``name``, ``media``, ``text``, ``number``.")

    wish = param.Parameter(default=None, doc="(what, sheet) for those who watch.")

    stop = param.Event(doc="The visitor wants the run to stop.")

    _bundle = "desk.js"
    _rename: ClassVar[dict[str, str | None]] = {"wish": None, "stop": None}
    _css: ClassVar[list[Path]] = [Path("play.css")]
    _js: ClassVar[list[Path]] = [Path("picture.js")]

    def __init__(self, **params: Any) -> None:
        self._pieces: list[str] = []
        super().__init__(**params)

    def _handle_msg(self, data: Any) -> None:
        """A wish with its sheet, a piece of it, or a stop. What has another form is passed over."""
        if not isinstance(data, dict):
            return
        if data.get("type") == "stop":
            self.param.trigger("stop")
        elif data.get("type") == "piece" and isinstance(data.get("text"), str):
            self._keep(data["text"], first=data.get("place") == 0)
        elif data.get("type") == "wish" and data.get("wish") in WISHES:
            self._wish(data["wish"])

    def _keep(self, text: str, *, first: bool) -> None:
        if first:
            self._pieces = []
        if len(self._pieces) < PIECES and sum(map(len, self._pieces)) + len(text) <= MOST_SIGNS:
            self._pieces.append(text)

    def _wish(self, wish: str) -> None:
        sheet: Sheet | None = sheet_of("".join(self._pieces)) if self._pieces else None
        self._pieces = []
        with param.discard_events(self):
            self.wish = (wish, sheet)
        self.param.trigger("wish")  # the same may be wished for twice
