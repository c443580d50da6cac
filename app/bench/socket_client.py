"""A browser without a browser: it loads the page, opens its websocket, pulls the document, sends events."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from tornado.httpclient import HTTPClientError, HTTPRequest, HTTPResponse
from tornado.simple_httpclient import SimpleAsyncHTTPClient
from tornado.websocket import WebSocketClientConnection, WebSocketClosedError, websocket_connect

TOKEN = re.compile(r'"token":"([^"]+)"')
PATIENCE = 60.0  # seconds for one answer of a busy server


class Unanswered(RuntimeError):
    """The server did not answer as the protocol of its page has it; the text says what is missing."""


class SocketClient:
    """One session of one learner, as the protocol of Bokeh has it.

    ``values`` mirrors the models of the session's document: (model id, attribute) to the last value the
    server told. ``heard`` keeps every text frame as it came.
    """

    def __init__(self, page: str, cookie: str = "", *, patience: float = PATIENCE) -> None:
        self.page = page
        self.cookie = cookie
        self.patience = patience
        self.html = ""
        self.socket: WebSocketClientConnection | None = None
        self.ended = False  # the server has closed the socket: nothing more comes, not even its end
        self.heard: list[str] = []
        self.document: dict[str, Any] = {}
        self.values: dict[tuple[str, str], Any] = {}
        self.bytes_unpacked = 0  # what has come, before it was compressed

    # ---- coming and going ------------------------------------------------------------------------

    async def open(self) -> dict[str, Any]:
        """Load the page and return its document. Raises Unanswered, and what the network raises."""
        self.html = (await self._page()).body.decode()
        token = TOKEN.search(self.html)
        if token is None:
            raise Unanswered(f"{self.page} is no page of the lab")
        url = self.page.partition("?")[0].replace("http://", "ws://") + "/ws"
        request = HTTPRequest(url, headers={"Cookie": self.cookie} if self.cookie else {})
        self.ended = False
        async with asyncio.timeout(self.patience):
            self.socket = await websocket_connect(
                request, subprotocols=["bokeh", token[1]], compression_options={}
            )
        if (protocol := self.socket.protocol) is not None:
            protocol.set_nodelay(True)  # as browsers do
        await self._receive()
        self.document = (await self.ask("PULL-DOC-REQ", {}))["doc"]
        self._mirror(self.document)
        await self._event("document_ready", {})  # until then the server holds its changes back
        return self.document

    async def _page(self) -> HTTPResponse:
        """The page's HTML; a client of its own, so that a crowd does not queue for one."""
        client = SimpleAsyncHTTPClient(force_instance=True)
        try:
            headers = {"Cookie": self.cookie} if self.cookie else {}
            answer = await client.fetch(self.page, headers=headers, request_timeout=self.patience)
        except HTTPClientError as error:
            raise Unanswered(f"the page answered {error}") from error
        finally:
            client.close()
        set_cookie = answer.headers.get("Set-Cookie", "")
        self.cookie = self.cookie or set_cookie.partition(";")[0]
        return answer

    async def close(self) -> None:
        """Close the socket and hear it end."""
        if self.socket is None:
            return
        self.socket.close()
        while not self.ended:
            self.ended = await self.socket.read_message() is None

    async def __aenter__(self) -> SocketClient:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # ---- messages ----------------------------------------------------------------------------------

    async def ask(self, kind: str, content: dict[str, Any]) -> dict[str, Any]:
        """Send a message and return the content of its reply; what comes between is kept in ``heard``."""
        await self.send(kind, content)
        while True:
            header, reply = await self._receive()
            if header.get("reqid") == "1":
                return reply

    async def send(self, kind: str, content: dict[str, Any]) -> None:
        """Send a message and wait for nothing."""
        if self.socket is None:
            raise Unanswered("the page is not open")
        try:
            for part in ({"msgid": "1", "msgtype": kind}, {}, content):
                await self.socket.write_message(json.dumps(part))
        except WebSocketClosedError as error:
            raise Unanswered("the server closed the connection") from error

    async def until(self, come: Callable[[], bool], what: str) -> None:
        """Listen until ``come``; ``what`` names it when it never does."""
        try:
            async with asyncio.timeout(self.patience):
                while not come():
                    await self._receive()
        except TimeoutError as error:
            raise Unanswered(f"{what} did not come within {self.patience:g} s") from error

    async def _receive(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """One message: header, metadata, content, and the buffers that the header announces."""
        header, _, content = [await self._part() for _ in range(3)]
        for _ in range(header.get("num_buffers", 0)):
            await self._part()
            await self._part()
        if header.get("msgtype") == "PATCH-DOC":
            self._patch(content)
        return header, content

    async def _part(self) -> Any:
        if self.socket is None:
            raise Unanswered("the page is not open")
        text = await self.socket.read_message()
        if text is None:
            self.ended = True
            raise Unanswered("the server closed the connection")
        self.bytes_unpacked += len(text)
        if isinstance(text, bytes):
            return text
        self.heard.append(text)
        return json.loads(text)

    async def event(self, model: str, data: Any) -> dict[str, Any]:
        """What a component's ``send_msg(data)`` sends."""
        return await self._event("data_event", {"model": {"id": model}, "data": data})

    async def _event(self, name: str, values: dict[str, Any]) -> dict[str, Any]:
        entries = [[key, value if key == "model" else written(value)] for key, value in values.items()]
        event = {"type": "event", "name": name, "values": {"type": "map", "entries": entries}}
        message = {"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": event}
        return await self.ask("PATCH-DOC", {"events": [message]})

    async def change(self, model: str, name: str, value: Any) -> dict[str, Any]:
        """What a component's ``model.name = value`` sends."""
        change = {"kind": "ModelChanged", "model": {"id": model}, "attr": name, "new": written(value)}
        return await self.ask("PATCH-DOC", {"events": [change]})

    # ---- what the server has told --------------------------------------------------------------------

    def _mirror(self, document: Any) -> None:
        for model, name, value in models_in(document):
            self.values[model, name] = value

    def _patch(self, content: dict[str, Any]) -> None:
        for event in content.get("events", []):
            if event.get("kind") == "ModelChanged":
                self.values[event["model"]["id"], event["attr"]] = event["new"]
                self._mirror(event["new"])

    @property
    def bytes_received(self) -> int:
        """What the open websocket has carried to this client so far, as compressed as it travelled."""
        return self._carried("_wire_bytes_in")

    @property
    def bytes_sent(self) -> int:
        """What the open websocket has carried to the server so far."""
        return self._carried("_wire_bytes_out")

    def _carried(self, name: str) -> int:
        return int(getattr(self.socket.protocol, name, 0)) if self.socket is not None else 0


def models_in(value: Any) -> Iterator[tuple[str, str, Any]]:
    """(id, attribute, value) of every model that is written out in ``value``, however deep."""
    if isinstance(value, list):
        for one in value:
            yield from models_in(one)
    elif isinstance(value, dict):
        if "id" in value and isinstance(value.get("attributes"), dict):
            yield from ((value["id"], name, one) for name, one in value["attributes"].items())
        for one in value.values():
            yield from models_in(one)


def written(value: Any) -> Any:
    """A plain value as the protocol writes it."""
    if isinstance(value, dict):
        return {"type": "map", "entries": [[key, written(one)] for key, one in value.items()]}
    return value


def plain(value: Any) -> Any:
    """The plain value of what the protocol wrote."""
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, dict) and value.get("type") == "map":
        return {key: plain(one) for key, one in value.get("entries", [])}
    return value


def roots(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The components of a document by name."""
    return {root["attributes"]["name"]: root for root in document["roots"]}
