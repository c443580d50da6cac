"""A browser without a browser: it loads the page, opens its websocket, pulls the document, sends events."""

from __future__ import annotations

import json
import re
from typing import Any

from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

TOKEN = re.compile(r'"token":"([^"]+)"')


class SocketClient:
    """One session of one learner, as the protocol of Bokeh has it."""

    def __init__(self, page: str, cookie: str = "") -> None:
        self.page = page
        self.cookie = cookie
        self.html = ""
        self.socket: WebSocketClientConnection | None = None
        self.heard: list[str] = []
        self.document: dict[str, Any] = {}

    async def open(self) -> dict[str, Any]:
        """Load the page and return its document."""
        answer = await AsyncHTTPClient().fetch(
            self.page, headers={"Cookie": self.cookie} if self.cookie else {}
        )
        self.html = answer.body.decode()
        set_cookie = answer.headers.get("Set-Cookie", "")
        self.cookie = self.cookie or set_cookie.partition(";")[0]
        token = TOKEN.search(self.html)
        assert token is not None
        url = self.page.partition("?")[0].replace("http://", "ws://") + "/ws"
        request = HTTPRequest(url, headers={"Cookie": self.cookie} if self.cookie else {})
        self.socket = await websocket_connect(request, subprotocols=["bokeh", token[1]])
        await self._receive()
        return (await self.ask("PULL-DOC-REQ", {}))["doc"]

    async def ask(self, kind: str, content: dict[str, Any]) -> dict[str, Any]:
        """Send a message and return the content of its reply; what comes between is kept in ``heard``."""
        await self.send(kind, content)
        while True:
            header, reply = await self._receive()
            if header.get("reqid") == "1":
                return reply

    async def send(self, kind: str, content: dict[str, Any]) -> None:
        assert self.socket is not None
        for part in ({"msgid": "1", "msgtype": kind}, {}, content):
            await self.socket.write_message(json.dumps(part))

    async def _receive(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """One message: header, metadata, content, and the buffers that the header announces."""
        header, _, content = [await self._part() for _ in range(3)]
        for _ in range(header.get("num_buffers", 0)):
            await self._part()
            await self._part()
        return header, content

    async def _part(self) -> Any:
        assert self.socket is not None
        text = await self.socket.read_message()
        assert text is not None, "the server closed the connection"
        if isinstance(text, bytes):
            return text
        self.heard.append(text)
        return json.loads(text)

    async def event(self, model: str, data: Any) -> dict[str, Any]:
        """What a component's ``send_msg(data)`` sends."""
        event = {
            "type": "event",
            "name": "data_event",
            "values": {"type": "map", "entries": [["model", {"id": model}], ["data", written(data)]]},
        }
        message = {"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": event}
        return await self.ask("PATCH-DOC", {"events": [message]})

    async def change(self, model: str, name: str, value: Any) -> dict[str, Any]:
        """What a component's ``model.name = value`` sends."""
        change = {"kind": "ModelChanged", "model": {"id": model}, "attr": name, "new": value}
        return await self.ask("PATCH-DOC", {"events": [change]})

    async def __aenter__(self) -> SocketClient:
        self.document = await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self.socket is not None:
            self.socket.close()
            while await self.socket.read_message() is not None:
                pass


def written(value: Any) -> Any:
    """A plain value as the protocol writes it."""
    if isinstance(value, dict):
        return {"type": "map", "entries": [[key, written(one)] for key, one in value.items()]}
    return value


def roots(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The components of a document by name."""
    return {root["attributes"]["name"]: root for root in document["roots"]}
