"""What a learner does on the page, over a websocket: each deed waits for what the browser would wait for."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any

from app.bench.socket_client import PATIENCE, SocketClient, plain, roots


class Learner:
    """One learner with one page open. The deeds return the seconds until the server had answered.

    They raise Unanswered when the answer is missing, or the page says that something went wrong.
    """

    def __init__(self, page: str, cookie: str = "", *, patience: float = PATIENCE) -> None:
        self.client = SocketClient(page, cookie, patience=patience)
        self._places: dict[str, tuple[str, str]] = {}

    async def join(self) -> float:
        """Load the page, open its socket, have its document."""
        seconds = await timed(self.client.open)
        self._places = {
            name: (root["id"], root["attributes"]["data"]["id"])
            for name, root in roots(self.client.document).items()
        }
        return seconds

    async def leave(self) -> None:
        await self.client.close()

    # ---- what the page shows ------------------------------------------------------------------------

    def shown(self, component: str, name: str) -> Any:
        """The value of a component's param as the browser has it."""
        return plain(self.client.values.get((self._places[component][1], name)))

    @property
    def step(self) -> str:
        return str(self.shown("desk", "state")["step"])

    @property
    def known(self) -> int:
        """Ticks that the browser has."""
        return int(self.shown("player", "known") or 0)

    @property
    def done(self) -> bool:
        """Whether the run has come to its end."""
        return self.shown("player", "last") is not None

    @property
    def problem(self) -> str:
        """What the page says went wrong with the run; empty: nothing."""
        return str(self.shown("player", "problem") or "")

    def answers(self, number: str = "1") -> dict[str, str]:
        """A text for each required question: ``number``, or the first of the choices."""
        return {
            field["key"]: field["choices"][0]["value"] if field["choices"] else number
            for field in self.shown("form", "fields")
            if field["required"]
        }

    # ---- what a learner does --------------------------------------------------------------------------

    async def read(self) -> float:
        """The rules have been read."""
        return await self._deed(lambda: self._command("read"), lambda: self.step != "read", "the prediction")

    async def draft(self, texts: dict[str, str]) -> float:
        """Type; what is typed goes to the server as it is."""
        return await timed(lambda: self.client.change(self._places["form"][1], "draft", texts))

    async def lock(self, texts: dict[str, str]) -> float:
        """Lock ``texts``: answered when the page shows them locked."""
        message = {"type": "lock", "draft": texts}
        return await self._deed(
            lambda: self._say("form", message), lambda: bool(self.shown("form", "locked")), "the lock"
        )

    async def run_step(self) -> float:
        """One more tick: answered when the browser has it. Then the cursor goes to it, as on the page."""
        before = self.known
        seconds = await self._deed(
            lambda: self._say("player", {"type": "step"}),
            lambda: self.known > before or self.done or bool(self.problem),
            f"tick {before}",
        )
        if self.shown("player", "tick") != self.known - 1:
            await self.look(self.known - 1)
        return seconds

    async def run_to_end(self) -> float:
        """Every tick that is left."""
        return await self._deed(
            lambda: self._say("player", {"type": "end"}),
            lambda: self.done or bool(self.problem),
            "the end of the run",
        )

    async def look(self, tick: int) -> None:
        """Show ``tick``, as the player does when it stops there."""
        await self.client.change(self._places["player"][1], "tick", tick)

    async def observe(self, text: str = "1") -> float:
        """Type what was read off the run: answered by the verdict."""
        return await self._deed(
            lambda: self._command("observe", text=text),
            lambda: bool(self.shown("desk", "verdict")),
            "the verdict",
        )

    async def _command(self, name: str, **texts: str) -> None:
        await self._say("desk", {"name": name, **texts})

    async def _say(self, component: str, data: dict[str, Any]) -> None:
        await self.client.event(self._places[component][0], data)

    async def _deed(self, ask: Callable[[], Awaitable[None]], come: Callable[[], bool], what: str) -> float:
        began = time.perf_counter()
        await ask()
        await self.client.until(come, what)
        return time.perf_counter() - began


async def timed(ask: Callable[[], Awaitable[object]]) -> float:
    """Seconds until ``ask`` has its answer."""
    began = time.perf_counter()
    await ask()
    return time.perf_counter() - began
