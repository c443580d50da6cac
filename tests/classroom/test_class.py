"""A class as a whole: learners and a teacher at one server, what they may send, and its restart."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.websocket import websocket_connect

from app.classroom.gate import Patience
from app.classroom.keys import FILE, keys_in
from puzzles import fields, load
from tests.app.secrets import betrayed
from tests.app.socket_client import TOKEN, SocketClient, roots
from tests.classroom.running import ClassServing, Teacher, Visitor, lock, right_answers
from tests.serving import PATIENCE

DATABASE = b'"database": true'  # enough where nobody runs anything


def joined(server: ClassServing) -> Visitor:
    """A learner who has typed the code."""
    visitor = Visitor(server.url)
    assert visitor.get(f"/?code={keys_in(server.folder / 'data').join}").status == 200
    return visitor


def teacher_of(server: ClassServing) -> Teacher:
    return Teacher(server)


def cookies(visitor: Visitor) -> str:
    return "; ".join(f"{cookie.name}={cookie.value}" for cookie in visitor.jar)


async def lock_as(client: SocketClient, **wrong: Any) -> None:
    """Fill in the form and lock it, as the page does; when this returns the page shows it locked."""
    models = roots(client.document)
    texts = {key: str(value) for key, value in right_answers(**wrong).items()}
    await client.event(models["desk"]["id"], {"name": "read"})
    await client.event(models["form"]["id"], {"type": "lock", "draft": texts})
    place = models["form"]["attributes"]["data"]["id"], "locked"
    await client.until(lambda: client.values.get(place) is True, "the lock")


# ---- the websocket ---------------------------------------------------------------------------------


async def test_a_learner_joins_and_sees_the_lab_without_answers(school: ClassServing) -> None:
    async with SocketClient(school.page, cookies(joined(school))) as client:
        assert betrayed(json.dumps(client.document)) == []
        assert roots(client.document).keys() >= {"form", "player", "desk"}


async def connection(school: ClassServing, **headers: str) -> Any:
    page = joined(school).get("/app")
    token = TOKEN.search(page.text)
    assert token is not None
    request = HTTPRequest(school.page.replace("http://", "ws://") + "/ws", headers=headers)
    return await websocket_connect(request, subprotocols=["bokeh", token[1]])


async def closed(socket: Any) -> None:
    """Close ``socket`` and hear it end."""
    socket.close()
    while await socket.read_message() is not None:
        pass


async def test_a_page_of_another_site_opens_no_websocket(school: ClassServing) -> None:
    for origin in ("http://evil.example", f"{school.url}.evil.example", "null"):
        with pytest.raises(HTTPClientError) as refused:
            await connection(school, Origin=origin)
        assert refused.value.code == 403
    opened = await connection(school, Origin=school.url)
    await closed(opened)


async def test_a_websocket_without_a_signed_token_is_refused(school: ClassServing) -> None:
    from bokeh.util.token import generate_jwt_token, generate_session_id

    forged = generate_jwt_token(generate_session_id(b"guessed", True), b"guessed", True)
    socket = await websocket_connect(
        school.page.replace("http://", "ws://") + "/ws", subprotocols=["bokeh", forged]
    )
    assert await socket.read_message() is None
    socket.close()


async def test_an_oversized_message_ends_that_connection_and_no_other(school: ClassServing) -> None:
    socket = await connection(school)
    assert await socket.read_message() is not None
    await socket.write_message("x" * 1_200_000)
    while await socket.read_message() is not None:
        pass
    socket.close()
    assert Visitor(school.url).get("/healthz").status == 200


# ---- led by a teacher ------------------------------------------------------------------------------


FORGED = [
    ("player", {"type": "step"}),
    ("player", {"type": "end"}),
    ("player", {"type": "tick", "tick": 0}),
    ("quantization", {"type": "show"}),
    ("desk", {"name": "observe", "text": "1.1"}),
    ("desk", {"name": "reveal"}),
    ("desk", {"name": "again"}),
]
WRONG = {
    field.key.replace(".", "__"): 77.7 for field in fields(load("main")) if field.unit and field.required
}


async def forge(client: SocketClient) -> None:
    """Ask for everything that a browser can ask for."""
    models = roots(client.document)
    for name, message in FORGED:
        await client.event(models[name]["id"], message)
    await client.change(models["player"]["id"], "enabled", True)
    await client.event(models["player"]["id"], {"type": "end"})


async def test_no_forged_message_brings_a_run_before_its_phase(school: ClassServing) -> None:
    """A learner who has locked wrong numbers only; whatever arrives before the run gives nothing away."""
    teacher = teacher_of(school)
    teacher.post("/teach/classes/start")
    learner = cookies(joined(school))
    teacher.direct(phase="vote1")
    for phase in ("vote1", "closed", "discuss", "vote2"):
        teacher.direct(phase=phase)
        async with SocketClient(school.page, learner) as client:
            await lock_as(client, **WRONG)
            await forge(client)
            await client.ask("PULL-DOC-REQ", {})
            assert betrayed("\n".join(client.heard) + client.html) == []
    store = school.store()
    place = store.predictions()[-1].place
    async with asyncio.timeout(PATIENCE):  # the last lock may be on its way still
        while [one.vote for one in store.votes(place)] != [1, 2]:
            await asyncio.sleep(0.1)
    assert (store.progress(place).known, store.progress(place).observed) == (0, None)
    store.close()
    teacher.direct(phase="run")
    async with SocketClient(school.page, learner) as client:
        await client.event(roots(client.document)["player"]["id"], {"type": "end"})
        async with asyncio.timeout(PATIENCE):
            while not betrayed("\n".join(client.heard)):
                await client.ask("PULL-DOC-REQ", {})
    teacher.direct(phase="free")


# ---- the class ---------------------------------------------------------------------------------------


@pytest.fixture
def own(tmp_path: Path) -> Iterator[ClassServing]:
    """A class of its own, open to the network of this machine."""
    server = ClassServing(tmp_path)
    server.options = ["--address", "0.0.0.0", "--join-code", "Room7"]
    server.start(ready=DATABASE)
    yield server
    server.stop()


async def test_what_learners_lock_reaches_the_teacher(own: ClassServing) -> None:
    """Three learners; the teacher sees how many, then what they believe; no page mixes them up."""
    for number in range(3):
        learner = Visitor(own.url)
        assert learner.get("/?code=room7").status == 200
        async with SocketClient(own.page, cookies(learner)) as client:
            await lock_as(client, static__R02__ttft=70.5 + number)
    teacher = teacher_of(own)
    hidden = teacher.get("/teach/board").text
    assert "<strong>3</strong>" in hidden
    assert "70.5" not in hidden
    shown = teacher.get("/teach/board?show=1").text
    for number in range(3):
        assert str(70.5 + number) in shown
    found = json.loads(teacher.get("/teach/predictions.json").body)
    assert [one["learner"] for one in found] == [1, 2, 3]


def test_a_class_that_is_open_shows_its_code_as_a_picture(own: ClassServing) -> None:
    log = own.log.read_text()
    assert "█" in log
    assert "ROOM7" in log
    visitor = Visitor(own.url)
    assert "<svg" not in visitor.get("/").text  # the picture holds the code
    assert "<svg" in visitor.get("/?code=room7").text
    assert "<svg" in teacher_of(own).get("/teach").text
    drawn = re.search(r"<svg[^>]*>", teacher_of(own).get("/teach/project").text)
    assert drawn is not None
    assert "viewBox=" in drawn[0]  # in a smaller place it is smaller, not cut
    assert "width=" not in drawn[0]


def test_guessing_the_code_has_to_wait(own: ClassServing) -> None:
    visitor = Visitor(own.url)
    most = Patience().most
    assert [visitor.get(f"/?code=GUESS{n}").status for n in range(most + 1)] == [403] * most + [429]
    said = visitor.get("/?code=room7", **{"Accept-Language": "zh"})
    assert said.status == 429
    assert "请等一分钟" in said.text
    assert own.faults() == []


def test_a_restart_loses_nobody(own: ClassServing) -> None:
    """Neither the learners' cookies nor the teacher's, nor a lock; not even when it is killed."""
    own.options = ["--join-code", "Room7"]
    learner, teacher = Visitor(own.url), teacher_of(own)
    learner.get("/?code=ROOM7")
    before = (own.folder / "data" / FILE).read_bytes()
    store = own.store()
    lock(store, 1)
    store.close()
    own.stop(kill=True)
    own.start(ready=DATABASE)
    assert (own.folder / "data" / FILE).read_bytes() == before
    assert stat.S_IMODE((own.folder / "data" / FILE).stat().st_mode) == 0o600
    assert "data-step=" in learner.get("/app").text
    assert "<strong>1</strong>" in teacher.get("/teach").text


def test_it_ends_when_it_is_asked_to(own: ClassServing) -> None:
    assert own.process is not None
    own.process.send_signal(signal.SIGTERM)
    own.process.wait(timeout=PATIENCE)
    own.process = None
    assert own.faults() == [], own.log.read_text()
