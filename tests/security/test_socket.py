"""A websocket that is misused is closed in one line of the log; one that is only busy loses nothing."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from playwright.sync_api import expect
from tornado.httpclient import HTTPClientError
from tornado.websocket import WebSocketClientConnection, WebSocketClosedError, websocket_connect

from app.classroom.keys import Keys
from app.web import limits
from app.web.limits import Allowance, Limits, Rate
from tests.app.socket_client import TOKEN, SocketClient, roots
from tests.classroom.running import ClassServing, Visitor
from tests.serving import PATIENCE, Serving
from tests.ui.learner import Learner


async def _ended(socket: WebSocketClientConnection) -> int | None:
    """Read until the server has closed; the code with which it did."""
    while await socket.read_message() is not None:
        pass
    socket.close()
    return socket.close_code


class Log:
    """The lines of a server's log since this was made."""

    def __init__(self, server: Serving) -> None:
        self._server, self._before = server, len(server.log.read_text())

    def lines(self) -> list[str]:
        return self._server.log.read_text()[self._before :].splitlines()

    def closed(self) -> list[str]:
        """Why sockets were closed: the server may still be about to say it."""
        give_up = time.monotonic() + PATIENCE
        while time.monotonic() < give_up:
            found = [line for line in self.lines() if "was closed: " in line]
            if found:
                return found
            time.sleep(0.02)
        return []


@pytest.mark.parametrize(
    "parts",
    [
        ["no json"],
        ["{}", "{}", "{}"],
        ["[" * 100_000, "{}", "{}"],
        ['{"msgid": "1", "msgtype": "NO-SUCH"}', "{}", "{}"],
        ['{"msgid": "1", "msgtype": "PUSH-DOC"}', "{}", '{"doc": {"roots": []}}'],
        ['{"msgid": "1", "msgtype": "OK"}', "{}", "{}"],
        [b"\x00\x01"],
        ['{"msgid": "1", "msgtype": "PATCH-DOC", "num_buffers": 2}', "{}", '{"events": []}', "{}"],
    ],
)
async def test_what_is_no_message_closes_the_socket(lab: Serving, parts: list[Any]) -> None:
    client, log = SocketClient(lab.page), Log(lab)
    await client.open()
    assert client.socket is not None
    with suppress(WebSocketClosedError):  # it may be closed before the last part
        for part in parts if len(parts) > 2 else [*parts, "{}", "{}"]:
            await client.socket.write_message(part, binary=isinstance(part, bytes))
    assert await _ended(client.socket) in (1002, 1008)
    assert len(log.closed()) == 1
    assert "Traceback" not in "\n".join(log.lines())
    assert max(map(len, log.lines())) < 400


async def test_buffers_without_end_are_not_collected(school: ClassServing, keys: Keys) -> None:
    client = await _joined(school, keys)
    log = Log(school)
    assert client.socket is not None
    header = {"msgid": "1", "msgtype": "PATCH-DOC", "num_buffers": 1000}
    for part in (header, {}, {"events": []}):
        await client.socket.write_message(json.dumps(part))
    with suppress(WebSocketClosedError):  # it may be closed before the last buffer
        for number in range(4):
            await client.socket.write_message(json.dumps({"id": str(number)}))
            await client.socket.write_message(b"\x00" * 400_000, binary=True)
    assert await _ended(client.socket) == 1009
    assert len(log.closed()) == 1


@pytest.mark.parametrize("size", [1_000_001, 25_000_000])
async def test_a_message_that_is_too_large_closes_the_socket(
    school: ClassServing, keys: Keys, size: int
) -> None:
    client = await _joined(school, keys)
    log = Log(school)
    assert client.socket is not None
    with suppress(WebSocketClosedError):  # it is closed before all of it was sent
        await client.socket.write_message("x" * size)
    await _ended(client.socket)
    assert len(log.closed()) == 1, log.lines()
    assert "more than 1000000 bytes" in log.closed()[0]
    assert max(map(len, log.lines())) < 400


async def _joined(school: ClassServing, keys: Keys) -> SocketClient:
    """A session of a learner who has typed the code."""
    visitor = Visitor(school.url)
    visitor.get(f"/?code={keys.join}")
    cookie = "; ".join(f"{one.name}={one.value}" for one in visitor.jar)
    client = SocketClient(school.page, cookie)
    await client.open()
    return client


@pytest.mark.parametrize("token", ["x", "e30", "bm90IGpzb24", "e30.x", "." * 50])
async def test_a_token_that_is_none_opens_nothing(school: ClassServing, token: str) -> None:
    log = Log(school)
    url = school.page.replace("http", "ws") + "/ws"
    socket = await websocket_connect(url, subprotocols=["bokeh", token])
    await _ended(socket)
    assert len(log.closed()) == 1, log.lines()
    assert "Traceback" not in "\n".join(log.lines())


async def test_a_token_of_another_server_opens_nothing(
    lab: Serving, school: ClassServing, keys: Keys
) -> None:
    async with SocketClient(lab.page) as stranger:
        token = TOKEN.search(stranger.html)
    assert token is not None
    log = Log(school)
    url = school.page.replace("http", "ws") + "/ws"
    socket = await websocket_connect(url, subprotocols=["bokeh", token[1]])
    await _ended(socket)
    assert "nvalid token signature" in "\n".join(log.closed()), log.lines()
    assert "Traceback" not in "\n".join(log.lines())


async def test_a_page_of_another_site_opens_no_socket(school: ClassServing) -> None:
    from tornado.httpclient import HTTPRequest

    url = school.page.replace("http", "ws") + "/ws"
    request = HTTPRequest(url, headers={"Origin": "http://evil.example"})
    with pytest.raises(HTTPClientError, match="403"):
        await websocket_connect(request, subprotocols=["bokeh", "x"])


# ---- too much ------------------------------------------------------------------------------------


def test_an_allowance_fills_again() -> None:
    now = [0.0]
    allowance = Allowance(Rate(burst=3, per_second=2), clock=lambda: now[0])
    assert [allowance.take("a") for _ in range(4)] == [0, 0, 0, 0.5]
    assert allowance.take("b") == 0
    now[0] = 0.5
    assert allowance.take("a") == 0.5
    now[0] = 100
    assert [allowance.take("a") for _ in range(4)] == [0, 0, 0, 0.5]


def test_asking_again_costs_nothing() -> None:
    now = [0.0]
    allowance = Allowance(Rate(burst=1, per_second=1), clock=lambda: now[0])
    assert allowance.refuse("a") == 0
    assert [allowance.refuse("a") for _ in range(50)] == [1] * 50
    now[0] = 1
    assert allowance.refuse("a") == 0


def test_names_without_end_are_forgotten() -> None:
    allowance = Allowance(Rate(1, 1))
    for number in range(limits.MOST_KEYS + 500):
        allowance.take(str(number))
    assert len(allowance._left) == limits.MOST_KEYS


def test_forty_behind_one_address_are_not_slowed() -> None:
    now = [0.0]
    found = Limits()
    for allowance in (found.opening, found.messages, found.address):
        allowance._clock = lambda: now[0]
    assert not any(found.opening.refuse("school") for _ in range(60 * 3))
    for _ in range(30 * 60):  # every learner holds a key down for a minute
        now[0] += 1 / 30
        assert not any(found.wait(str(learner), "school") for learner in range(40))


async def test_who_sends_too_much_waits_and_loses_nothing(lab: Serving) -> None:
    async with SocketClient(lab.page) as client:
        form = roots(client.document)["form"]["attributes"]["data"]["id"]
        # So many that it is too much however long they take: the allowance fills again meanwhile.
        log, most = Log(lab), int(2 * limits.MESSAGES.burst + limits.MESSAGES.per_second)
        for number in range(most):
            value = {"type": "map", "entries": [["why", str(number)]]}
            event = {"kind": "ModelChanged", "model": {"id": form}, "attr": "draft", "new": value}
            await client.send("PATCH-DOC", {"events": [event]})
        for _ in range(most):
            await _reply(client)
        document = await client.ask("PULL-DOC-REQ", {})
        draft = roots(document["doc"])["form"]["attributes"]["data"]["attributes"]["draft"]
        assert draft["entries"] == [["why", str(most - 1)]]
        assert "nothing is lost" in "\n".join(client.heard) + json.dumps(document)
        assert len([line for line in log.lines() if "slowed down" in line]) == 1


async def _reply(client: SocketClient) -> None:
    while (await client._receive())[0].get("reqid") != "1":
        pass


# ---- what the page says --------------------------------------------------------------------------


@pytest.mark.ui
def test_after_a_message_too_large_the_page_comes_back(
    learners: Callable[..., Learner], school: ClassServing, keys: Keys
) -> None:
    learner = learners(school)
    learner.page.goto(f"{school.url}/?code={keys.join}")
    learner.read()
    learner.find("#f-why").fill("kept")
    learner.expected += ["WebSocket", "websocket", "Lost", "bokeh"]
    learner.page.evaluate(
        """() => {
          window.addEventListener("ticklab:connection", ({ detail }) => { window.wasLost ||= !detail.open })
          const form = Bokeh.documents[0].roots().find((root) => root.class_name === "PredictionForm")
          form.data.draft = { why: "x".repeat(1500000) }
        }"""
    )
    learner.page.wait_for_function("window.wasLost", timeout=180_000)  # the banner may be gone again by now
    expect(learner.find("#offline")).to_contain_text("Reload")
    learner.reload()
    expect(learner.find("#f-why")).to_have_value("kept")
