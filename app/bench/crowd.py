"""Many learners who do the same at once. Whoever fails drops out; what went wrong is kept."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable

from tornado.simple_httpclient import SimpleAsyncHTTPClient

from app.bench.learner import Learner, timed
from app.bench.process import Running
from app.bench.socket_client import Unanswered

Deed = Callable[[Learner], Awaitable[float]]
PATIENCE = 60.0  # seconds for one answer


class Crowd:
    """The learners who are in. ``errors`` are sentences, one for each learner who dropped out."""

    def __init__(self, server: Running, exercise: str) -> None:
        self.server = server
        self.page = server.page + ("" if exercise == "main" else f"?ex={exercise}")
        self.learners: list[Learner] = []
        self.errors: list[str] = []

    async def join(self, count: int, seconds: float) -> list[float]:
        """Let ``count`` learners in, evenly within ``seconds``; how long each waited for a usable page."""
        gap = seconds / count
        return _known(await asyncio.gather(*(self._come(place * gap) for place in range(count))))

    async def _come(self, after: float) -> float | None:
        await asyncio.sleep(after)
        try:
            return await timed(self._enter)
        except (OSError, Unanswered) as error:
            self.errors.append(f"join: {error!r}")
        return None

    async def _enter(self) -> None:
        cookie = await way_in(self.server)
        learner = Learner(self.page, cookie, patience=PATIENCE)
        await learner.join()
        self.learners.append(learner)

    async def all(self, name: str, deed: Deed) -> list[float]:
        """Let everybody do it at once; the seconds of those who managed."""
        return _known(await asyncio.gather(*(self._try(name, deed, one) for one in list(self.learners))))

    async def one(self, name: str, deed: Deed, times: int) -> list[float]:
        """Let the first learner do it, some times, alone."""
        return _known([await self._try(name, deed, one) for one in self.learners[:1] for _ in range(times)])

    async def _try(self, name: str, deed: Deed, learner: Learner) -> float | None:
        try:
            seconds = await deed(learner)
            if not learner.problem:
                return seconds
            self.errors.append(f"{name}: {learner.problem}")
        except (OSError, Unanswered) as error:
            self.errors.append(f"{name}: {error!r}")
            if learner in self.learners:
                self.learners.remove(learner)
        return None

    async def leave(self) -> None:
        """Everybody closes the page."""
        await asyncio.gather(*(one.leave() for one in self.learners), return_exceptions=True)
        self.learners.clear()


def _known(found: list[float | None]) -> list[float]:
    return [one for one in found if one is not None]


async def way_in(server: Running) -> str:
    """The cookies of a browser that has typed the code of the class; empty where there is none to type."""
    if not server.code:
        return ""
    client = SimpleAsyncHTTPClient(force_instance=True)
    try:
        root = server.page.removesuffix("/app")
        answer = await client.fetch(f"{root}/?code={server.code}", follow_redirects=False, raise_error=False)
    finally:
        client.close()
    cookies = [re.split(";", one)[0] for one in answer.headers.get_list("Set-Cookie")]
    if answer.code != 303:
        raise Unanswered(f"the way in answered {answer.code} to the code of the class")
    return "; ".join(cookies)
