"""The log: one line for each event that matters, in the terminal's language, without secrets or chatter."""

from __future__ import annotations

import logging
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.classroom.keys import keys_in
from app.journal import Trouble, cause_of, events, lines, place_of, tell
from app.journal.lines import Line, is_of_interest
from app.store import StoreError
from app.store.database import make_engine
from app.store.errors import POSTGRESQL, SQLITE
from engine.words import catalogue
from tests.app.socket_client import SocketClient, roots
from tests.classroom.running import ClassServing, Visitor

ROOM = Path(events.__file__).parent
STAMP = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d  \S")


def record(name: str, level: int, text: str, *values: object) -> logging.LogRecord:
    return logging.LogRecord(name, level, "", 0, text, values, None)


@pytest.mark.parametrize(
    ("name", "level", "text", "wanted"),
    [
        ("ticklab", logging.INFO, "The lab is open.", True),
        ("app.pages.learn", logging.ERROR, "", True),
        ("bokeh.server.views.ws", logging.INFO, "WebSocket connection opened", False),
        ("bokeh.command.subcommands.serve", logging.INFO, "Bokeh app running at: http://h/app", True),
        ("bokeh.server.views.ws", logging.ERROR, "Refusing websocket connection", True),
        ("tornado.access", logging.WARNING, "403 GET /teach", False),
        ("tornado.access", logging.ERROR, "500 GET /app", True),
        ("panel.io.state", logging.INFO, "x", False),
    ],
)
def test_what_a_teacher_need_not_know_is_left_out(name: str, level: int, text: str, wanted: bool) -> None:
    assert is_of_interest(record(name, level, text)) is wanted


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("500 GET /teach?key=abc (1.2.3.4) 3ms", "500 GET /teach?… (1.2.3.4) 3ms"),
        ("learner 0123456789abcdef0123456789abcdef", "learner …"),
        ("Session 'u4Vn0tHsBQKxWLVdJdJxzcXqAXXuJW3V2dc9KAlv8Zqv' came back", "Session '…' came back"),
        ("in the file /srv/teacher/0123456789abcdef0123456789/lab", None),
        ('File "/x/app/pages/learn.py", line 12, in the_page_of_a_learner_is_built', None),
        ("Is it locked? Yes.", None),
    ],
)
def test_what_opens_anything_is_cut_out(text: str, shown: str | None) -> None:
    written = Line().format(record("x", logging.ERROR, "%s", text))
    assert STAMP.match(written)
    assert written.partition("  ")[2] == (shown or text)


def test_a_traceback_is_cut_too() -> None:
    try:
        raise ValueError("token 0123456789abcdef0123456789abcdef")
    except ValueError:
        fault = logging.LogRecord("x", logging.ERROR, "", 0, "failed", None, sys.exc_info())
    assert "0123456789abcdef" not in Line().format(fault)
    assert "ValueError" in Line().format(fault)


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> pytest.LogCaptureFixture:
    """The journal's lines."""
    monkeypatch.setattr(events, "_told", {})
    caplog.set_level(logging.INFO, "ticklab")
    return caplog


def test_what_anybody_can_cause_is_told_once_a_minute(
    told: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr(events.time, "monotonic", lambda: now[0])
    for second in range(125):
        now[0] = 1000.0 + second
        tell("message.refused", sparing=True)
    assert len(told.messages) == 3


def test_trouble_is_told_when_it_comes_changes_and_goes(
    told: pytest.LogCaptureFixture,
) -> None:
    trouble = Trouble()
    trouble.went_well("ping")
    for _ in range(40):
        trouble.failed("lock", StoreError("full", "SQLITE_FULL"))
        trouble.went_well("ping")  # what is read is still had
    trouble.failed("lock", StoreError("gone"))
    trouble.went_well("ping")
    said = told.messages
    assert len(said) == 3
    assert "SQLITE_FULL" in said[0]
    assert "41" in said[2]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_trouble_has_its_words(language: str) -> None:
    words = catalogue(ROOM, language)
    codes = {*SQLITE.values(), *POSTGRESQL.values(), "driver", "newer", "failed", "gone", "unreachable"}
    assert {f"cause.{code}" for code in codes} <= words.texts.keys()
    assert words.texts.keys() == catalogue(ROOM, "en").texts.keys()
    assert all(words.texts.values())


def test_a_place_has_no_user_and_no_password() -> None:
    engine = make_engine("postgresql://teacher:s3cret@db.school:5433/lab")
    assert "db.school" in place_of(engine.url)
    assert "lab" in place_of(engine.url)
    for secret in ("s3cret", "teacher"):
        assert secret not in place_of(engine.url)
    engine.dispose()
    assert cause_of(StoreError("failed", "IntegrityError")).endswith("(IntegrityError).")


def test_only_the_handlers_of_the_server_are_changed() -> None:
    before = [handler.formatter for handler in logging.getLogger().handlers]
    lines.configure()
    assert [handler.formatter for handler in logging.getLogger().handlers] == before


# ---- a class comes and goes ------------------------------------------------------------------------------


@pytest.fixture
def own(tmp_path: Path) -> Iterator[ClassServing]:
    server = ClassServing(tmp_path)
    server.start()
    yield server
    server.stop()


async def test_a_class_that_comes_and_goes_leaves_few_lines(own: ClassServing) -> None:
    """Ten learners, wrong addresses, a wrong code, forged messages: three lines, and none has a secret."""
    start, began = own.log.read_text(), time.monotonic()
    keys = keys_in(own.folder / "data")
    secrets = [keys.session, keys.cookie]
    for number in range(10):
        visitor = Visitor(own.url)
        visitor.get(f"/?code={keys.join if number else 'WRONG7'}")
        visitor.get(f"/?code={keys.join}")
        visitor.get(f"/nowhere?key={keys.teacher}")
        visitor.get("/teach")
        secrets += [cookie.value or "" for cookie in visitor.jar]
        held = "; ".join(f"{cookie.name}={cookie.value}" for cookie in visitor.jar)
        async with SocketClient(own.page, held) as client:
            desk = roots(client.document)["desk"]["id"]
            await client.event(desk, {"name": "read"})
            await client.event(desk, {"name": "no such"})
    own.stop()
    text = own.log.read_text()
    assert text.startswith(start)
    _greeting, _, log = text.partition("\n20")
    said = [line[21:] for line in f"20{log}".splitlines() if STAMP.match(line)]
    minutes = int((time.monotonic() - began) // 60)
    assert 3 <= len(said) <= 3 + minutes, said  # what anybody can cause is told once a minute
    assert said[0].startswith("The lab is open. Predictions are kept in the file ")
    assert said[1] == "The engine is ready."
    assert all(one.startswith("A message that the page never sends was refused") for one in said[2:])
    for secret in (*secrets, keys.teacher, keys.join):
        assert secret not in log
