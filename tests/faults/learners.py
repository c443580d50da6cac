"""Learners of a real server without browsers: what they lock, and what they are told."""

from __future__ import annotations

import asyncio
import json
import secrets
from typing import Any

from app.web.identity import LANGUAGE, LEARNER
from tests.app.socket_client import SocketClient, roots
from tests.classroom.running import right_answers

LOCKED = '"locked",true'  # the page is told that the prediction is locked
PATIENCE = 240.0  # seconds to wait for what a server has to say


class Learner(SocketClient):
    """One tab of a browser of its own, or with the ``cookie`` of a learner who was here before."""

    def __init__(self, page: str, cookie: str = "", language: str = "en") -> None:
        name = secrets.token_hex(16)
        super().__init__(page, cookie or f"{LEARNER}={name}; {LANGUAGE}={language}")

    @property
    def name(self) -> str:
        """What the store calls this learner."""
        return self.cookie.partition("=")[2].partition(";")[0]

    async def open(self) -> dict[str, Any]:
        """Load the page, and say as BokehJS does that it is painted: before that nothing is sent to it."""
        document = await super().open()
        painted = {"type": "event", "name": "document_ready", "values": {"type": "map", "entries": []}}
        message = {"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": painted}
        await self.ask("PATCH-DOC", {"events": [message]})
        return document

    def form(self, document: dict[str, Any] | None = None) -> dict[str, Any]:
        """What the page's form holds."""
        sent = roots(document or self.document)["form"]["attributes"]["data"]["attributes"]
        return {"locked": False, **sent}  # what is as at first is not sent

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
        try:
            async with asyncio.timeout(PATIENCE):
                while (found := self._said(wanted)) is None:
                    await self._receive()
        except TimeoutError as error:
            raise AssertionError(f"nobody said {wanted}, but: {self.heard}") from error
        self.heard.clear()
        return found

    def _said(self, wanted: tuple[str, ...]) -> str | None:
        """Which of ``wanted`` has been said."""
        said = "\n".join(self.heard)
        return next((text for text in wanted if text in said or written(text) in said), None)


def written(text: str) -> str:
    """``text`` as JSON may write it."""
    return json.dumps(text)[1:-1]
