"""Learners of a real server without browsers: what they lock, and what they are told."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from tests.app.socket_client import SocketClient, roots
from tests.classroom.running import right_answers

PATIENCE = 60.0  # seconds to wait for what a server has to say


class Learner(SocketClient):
    """One tab. ``cookie`` makes it the tab of a learner who was here before."""

    def form(self, document: dict[str, Any] | None = None) -> dict[str, Any]:
        """What the page's form holds."""
        return dict(roots(document or self.document)["form"]["attributes"]["data"]["attributes"])

    async def now(self) -> dict[str, Any]:
        """What the page's form holds now."""
        return self.form((await self.ask("PULL-DOC-REQ", {}))["doc"])

    async def read(self) -> None:
        await self.event(roots(self.document)["desk"]["id"], {"name": "read"})

    async def lock(self, **wrong: Any) -> None:
        """Press the button, with right answers but for ``wrong``."""
        texts = {key: str(value) for key, value in right_answers(**wrong).items()}
        await self.event(roots(self.document)["form"]["id"], {"type": "lock", "draft": texts})

    async def step(self) -> None:
        await self.event(roots(self.document)["player"]["id"], {"type": "step"})

    async def hear(self, *wanted: str) -> str:
        """Wait until one of ``wanted`` has been said, or is being said; which."""
        async with asyncio.timeout(PATIENCE):
            while True:
                said = "\n".join(self.heard)
                found = next((text for text in wanted if text in said or written(text) in said), None)
                if found is not None:
                    self.heard.clear()
                    return found
                await self._receive()


def written(text: str) -> str:
    """``text`` as JSON may write it."""
    return json.dumps(text)[1:-1]
