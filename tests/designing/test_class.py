"""The transfer task in a class: behind the door, and on the teacher's board."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from app.classroom.keys import keys_in
from tests.classroom.running import ClassServing, Teacher, Visitor
from tests.designing.guest import PLAN, Guest


@pytest.fixture(scope="module")
def school(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClassServing]:
    server = ClassServing(tmp_path_factory.mktemp("school"))
    try:
        server.start()
        yield server
        assert server.faults() == [], server.log.read_text()
    finally:
        server.stop()


def test_who_has_not_joined_is_sent_to_the_way_in(school: ClassServing) -> None:
    stranger = Guest(school.url)
    assert stranger.page.url == f"{school.url}/"
    assert "summarization" not in stranger.text
    stranger.press("lock", **PLAN)
    assert stranger.page.url == f"{school.url}/"
    with closing(school.store()) as store:
        assert store.predictions(exercise="design") == []


def test_a_lock_shows_on_the_board_and_in_the_exports(school: ClassServing) -> None:
    keys = keys_in(Path(school.folder / "data"))
    guest = Guest(school.url, path=f"/?code={keys.join}")
    guest.path = "/lab/design"
    guest.open()
    guest.press("lock", **PLAN)
    assert guest.step == "Run"
    teacher = Teacher(school)
    for show in ("0", "1"):
        board = teacher.get(f"/teach?exercise=design&show={show}&lang=en")
        assert board.status == 200
        assert "Transfer: design a summarization service" in board.text
        assert "迁移题" in teacher.get(f"/teach?exercise=design&show={show}&lang=zh").text
        part = teacher.get(f"/teach/board?exercise=design&show={show}&lang=zh")
        assert part.status == 200
        assert "<strong>1</strong>" in part.text
    rows = teacher.get("/teach/predictions.csv").text
    assert '"design",1,1' in rows
    assert "step_time,burstiness,output_lengths" in rows
    assert "expect_rank" in teacher.get("/teach/predictions.json").text
    guest.press("run")
    assert guest.step == "Observe"
    assert "run" in teacher.get("/teach/board?exercise=design&lang=en").text.lower()


def test_its_page_to_read_is_closed_until_the_teacher_opens_it(school: ClassServing) -> None:
    page = Visitor(school.url).get("/read/en/design.html")
    assert page.status == 200
    assert "The machine (given)" in page.text
    assert "one at a time” held" not in page.text
    assert "132.40" not in page.text
