"""Step, back, play, drag: the page's one tick. Playing what is recorded sends nothing to the server."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import param
from msgspec import Meta

from app.components.base import LabComponent


class Player(LabComponent):
    """The controls of the run.

    ``tick`` is the last tick shown, -1 before the first. The browser writes it on pause, step, jump
    and at the end of a drag, never while it plays. ``request_step`` and ``request_end`` are triggered
    when the learner asks for ticks that are not delivered yet; answer them with a higher ``known``.
    """

    tick = param.Integer(default=-1, bounds=(-1, None), doc="The last tick shown; -1: none yet.")

    known = param.Integer(default=0, bounds=(0, None), doc="Number of ticks delivered to the browser.")

    last = param.Integer(default=None, allow_None=True, doc="The final tick of all runs, None while unknown.")

    enabled = param.Boolean(default=False, doc="Whether the run is open: the prediction is locked.")

    limit = param.Integer(
        default=None, allow_None=True, doc="The tick beyond which nobody steps now, None: to the end."
    )

    tick_seconds = param.Number(default=0.1, doc="Length of a tick, for the label.")

    expected = param.Integer(default=20, doc="Length of the slider while the final tick is unknown.")

    problem = param.String(default="", doc="A sentence when the engine cannot go on; empty: all is well.")

    request_step = param.Event(doc="The learner wants one more tick.")

    request_end = param.Event(doc="The learner wants every tick to the end.")

    _bundle = "player.js"
    _section: ClassVar[str] = "player"
    _from_browser: ClassVar[dict[str, Any]] = {"tick": Annotated[int, Meta(ge=-1)]}
    _rename: ClassVar[dict[str, str | None]] = {"request_step": None, "request_end": None}

    def refuse(self) -> None:
        """What was asked for is not given now."""
        self._send_msg({"type": "refused"})

    def _handle_msg(self, data: Any) -> None:
        """Only an open run listens: a forged message before the lock does nothing."""
        if not self.enabled or not isinstance(data, dict):
            return
        if data.get("type") == "step":
            self.param.trigger("request_step")
        elif data.get("type") == "end":
            self.param.trigger("request_end")
        elif data.get("type") == "tick" and _tick(data.get("tick"), self.known):
            self.tick = data["tick"]


def _tick(value: Any, known: int) -> bool:
    """Whether ``value`` is a tick the browser can show."""
    return type(value) is int and -1 <= value < known
