"""The websocket of a session: slower for who sends too much, deaf to what no page of ours would send."""

from __future__ import annotations

import asyncio
import logging
from asyncio import Future
from collections.abc import Callable
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary, WeakMethod

from bokeh.document import Document
from bokeh.protocol.message import Message
from bokeh.server.session import ServerSession
from bokeh.util.token import get_session_id
from tornado.websocket import WebSocketProtocol

from app.journal import tell
from app.web.incoming import KINDS, allowed
from app.web.limits import limits
from app.web.squeezed import SqueezedSocket

LATEST = 10.0  # seconds by which a message is delayed at most
DEAR = {"PULL-DOC-REQ": 20.0}  # what costs the server more than one message
TOO_BIG, REFUSED, LATER, BROKEN = 1009, 1008, 1013, 1002  # codes of closing

# What tells a page that its messages are slowed down. Weak at both ends: a page that is gone is not kept.
slowed: WeakKeyDictionary[Document, WeakMethod[Callable[[], None]]] = WeakKeyDictionary()


def _written(write: Callable[..., Future[None]], *args: Any, **names: Any) -> Future[None]:
    """Write. That the browser is gone is no error of this server, whoever forgets to ask for it."""
    future = write(*args, **names)
    future.add_done_callback(lambda done: done.cancelled() or done.exception())
    return future


class LearnerSocket(SqueezedSocket):
    """Panel's websocket that believes nothing. Each refusal is one line of the log."""

    _refusals = 0
    _held = 0
    _told = False
    _is_shut = False

    @property
    def _limit(self) -> int:
        return int(self.application.settings.get("websocket_max_message_size", 10**6))

    async def _async_open(self, token: str) -> None:
        """Open the session, unless this address opens too many."""
        known = get_session_id(token) in {session.id for session in self.application_context.sessions}
        if not known and limits().opening.refuse(self._address()):
            self._shut(LATER, "too many sessions are opened from there")
            return
        await super()._async_open(token)

    def open(self, *args: Any, **names: Any) -> Any:
        """Take the connection. A token that is none, or forged, or too old, is refused in one line."""
        try:
            return super().open(*args, **names)  # type: ignore[no-untyped-call]  # as Panel left it
        except Exception as error:
            self._shut(REFUSED, f"{error}"[:100])
            return None

    def get_websocket_protocol(self) -> WebSocketProtocol | None:
        """Tornado's protocol. It closes by itself on a frame that is too large; then the log says so."""
        protocol = super().get_websocket_protocol()
        if protocol is not None:
            protocol.close = partial(self._closed_by_protocol, protocol.close)  # type: ignore[method-assign]
            protocol.write_message = partial(_written, protocol.write_message)  # type: ignore[method-assign]
        return protocol

    def _closed_by_protocol(
        self, close: Callable[..., None], code: int | None = None, why: str | None = None
    ) -> None:
        if code == TOO_BIG and why and why.startswith("message too big"):
            tell("socket.big", logging.WARNING, address=self._address(), most=self._limit)
        close(code, why)

    async def on_message(self, fragment: str | bytes) -> None:
        self._held += len(fragment)
        if self._held > self._limit:
            self._shut(TOO_BIG, f"a message of more than {self._limit} bytes")
            return
        await super().on_message(fragment)

    async def _receive(self, fragment: str | bytes) -> Message[Any] | None:
        """A whole message, with nothing in it that a browser may not say."""
        if self.receiver is None or self.connection is None:
            return None
        try:
            message = await self.receiver.consume(fragment)
        except Exception as error:
            self._shut(BROKEN, f"no message of the protocol ({type(error).__name__})")
            return None
        if message is None:
            return None
        self._held = 0
        session = self.connection.session
        await self._in_time(session, message.msgtype)
        return self._believed(session, message)

    def _believed(self, session: ServerSession, message: Message[Any]) -> Message[Any] | None:
        if message.msgtype not in KINDS:
            self._shut(REFUSED, f"a message of type {message.msgtype}")
            return None
        if session.destroyed:
            return None
        if message.msgtype == "PATCH-DOC":
            message.content = allowed(message.content, session.document, self._refused)
        return message

    # ---- too much ------------------------------------------------------------------------------

    async def _in_time(self, session: ServerSession, kind: str) -> None:
        """Wait as long as this message has to be late. The next ones wait in the network: none is lost."""
        wait = limits().wait(session.id, self._address(), DEAR.get(kind, 1.0))
        if wait and not session.destroyed:
            self._tell(session.document)
            await asyncio.sleep(min(wait, LATEST))

    def _tell(self, document: Document) -> None:
        """Once for a connection, in the page and in the log."""
        if self._told:
            return
        self._told = True
        tell("socket.slowed", logging.WARNING, address=self._address())
        say = slowed[document]() if document in slowed else None
        if say is not None:
            document.add_next_tick_callback(say)

    # ---- one line each -------------------------------------------------------------------------

    def _refused(self, what: str) -> None:
        self._refusals += 1
        if self._refusals <= 3:  # whoever goes on is known by then
            tell("socket.refused", logging.WARNING, address=self._address(), what=what)

    def _shut(self, code: int, why: str) -> None:
        if self._is_shut:  # more had come before the end of it was heard
            return
        self._is_shut = True
        tell("socket.closed", logging.WARNING, address=self._address(), why=why)
        self.close(code, why[:100])

    def _address(self) -> str:
        return str(self.request.remote_ip)
