"""Whatever a learner types: kept as a line that any store takes, and shown as text wherever it is shown."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import re

import pytest

from app.classroom.exports import as_csv, as_json, harmless
from app.classroom.judging import Judge
from app.settings import Settings
from app.store import Place, Store, open_store
from app.texts import tidy
from tests.app.socket_client import SocketClient, plain, roots
from tests.classroom.running import ClassServing, Teacher, right_answers
from tests.security.hostile import HOSTILE, SPREADSHEET, intruders
from tests.serving import PATIENCE, Serving

FORMULA = re.compile(r"[\s\x00-\x1f]*[=+\-@＝＋－＠]")


@pytest.mark.parametrize("text", [*HOSTILE, *SPREADSHEET, "\ud800half", "\x85next\u2028line"])
def test_a_tidy_text_is_one_line_that_can_be_written(text: str) -> None:
    found = tidy(text, 500)
    assert len(found) <= 500
    assert found.encode()
    assert len(found.splitlines()) <= 1
    assert "\x00" not in found
    assert tidy(found, 500) == found


def test_ordinary_texts_stay_as_they_are() -> None:
    for text in ("因为要排队", "שלום \u200f(a)", "a & b < c", "é 😀", ""):
        assert tidy(text, 500) == text
    assert tidy("a\r\n\tb", 500) == "a b"


async def kept_draft(lab: Serving, cookie: str) -> dict[str, str]:
    """What a page that is loaded anew has of it; it may still be on its way to the database."""
    async with asyncio.timeout(PATIENCE):
        while True:
            page = SocketClient(lab.page, cookie)
            async with page:
                assert intruders(page.html) == []
                found = roots(page.document)["form"]["attributes"]["data"]["attributes"].get("draft")
            if found is not None:
                return plain(found)


async def test_hostile_answers_over_the_websocket_are_kept_and_bring_nothing_down(lab: Serving) -> None:
    for text in [*HOSTILE[:-1], "x" * 100_000, "\ud800"]:
        async with SocketClient(lab.page) as client:
            models = roots(client.document)
            draft = {"why": text, "confidence": text, "immediate.R02.ttft": text, text: text}
            await client.event(models["desk"]["id"], {"name": "read"})
            await client.event(models["form"]["id"], {"type": "draft", "draft": draft})
            await client.event(models["form"]["id"], {"type": "lock", "draft": draft})
            kept = await kept_draft(lab, client.cookie)
            assert kept.get("why", "") == tidy(text, 500)
    assert lab.faults() == []


@pytest.fixture
def stored(school: ClassServing) -> Store:
    store = school.store()
    goes_on = store.classes.current()
    assert goes_on is not None
    for number, text in enumerate([*HOSTILE[:-1], *SPREADSHEET]):
        place = Place(f"{number + 9000:032x}", "main", 1)
        store.classes.join(place.learner, goes_on.id)
        answers = right_answers() | {"p95.best": text, text: text}
        store.lock(place, answers, confidence=4, why=text)
    store.close()
    return store


@pytest.mark.usefixtures("stored")
def test_the_teachers_page_shows_texts_as_texts(school: ClassServing) -> None:
    teacher = Teacher(school)
    for path in (
        "/teach?show=1&hours=0",
        "/teach/board?show=1&hours=0&exercise=main",
    ):
        page = teacher.get(path)
        assert page.status == 200
        assert intruders(page.text) == []
    assert "&lt;img src=x onerror=alert(1)&gt;" in page.text
    assert "{{7*7}}" in page.text


@pytest.mark.usefixtures("stored")
def test_exports_are_text_in_a_spreadsheet_and_true_in_json(school: ClassServing) -> None:
    teacher = Teacher(school)
    sheet = teacher.get("/teach/predictions.csv?hours=0").body.decode("utf-8-sig")
    for row in csv.reader(io.StringIO(sheet)):
        for cell in row:
            assert not FORMULA.match(cell), cell
    found = json.loads(teacher.get("/teach/predictions.json?hours=0").body)
    assert set(HOSTILE[:-1]) <= {one["why"] for one in found}


@pytest.mark.parametrize("text", [*SPREADSHEET, "＝1+1", "\u200b=1", "\ufeff=1", "\x00=1", "|cmd", "%0A=1"])
def test_no_cell_begins_a_formula(text: str) -> None:
    assert harmless(text) == f"'{text}"


def test_ids_and_exercises_are_harmless_too(settings: Settings) -> None:
    store = open_store(settings)
    store.lock(Place("=cmd|' /C calc'!A0", "@SUM(1)", 1), {"+k": "-v", "a;=1": "=b"}, confidence=None, why="")
    rows = as_csv(store.predictions(), Judge()).decode("utf-8-sig")
    store.close()
    assert "'@SUM(1)" in rows
    assert "=cmd" not in rows
    assert all(not FORMULA.match(cell) for row in csv.reader(io.StringIO(rows)) for cell in row)
    assert b"=cmd" not in as_json([], Judge())
