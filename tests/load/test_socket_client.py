"""The load client against a server that hangs up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from tornado.httpserver import HTTPServer
from tornado.testing import bind_unused_port
from tornado.web import Application, RequestHandler
from tornado.websocket import WebSocketHandler

from app.bench.socket_client import SocketClient, Unanswered


class Page(RequestHandler):
    def get(self) -> None:
        self.write('"token":"any"')


class HangsUp(WebSocketHandler):
    def select_subprotocol(self, subprotocols: list[str]) -> str:
        return subprotocols[0]

    def open(self) -> None:
        self.close()


@pytest.fixture
async def page() -> AsyncIterator[str]:
    socket, port = bind_unused_port()
    server = HTTPServer(Application([("/app", Page), ("/app/ws", HangsUp)]))
    server.add_socket(socket)
    yield f"http://127.0.0.1:{port}/app"
    server.stop()
    await server.close_all_connections()


async def test_a_client_whose_server_has_hung_up_can_be_closed(page: str) -> None:
    client = SocketClient(page)
    with pytest.raises(Unanswered, match="closed the connection"):
        await client.open()
    await asyncio.wait_for(client.close(), 60)
    await asyncio.wait_for(client.close(), 60)
