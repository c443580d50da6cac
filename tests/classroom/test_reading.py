"""The pages without JavaScript give no answer away before the teacher opens them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.request import Request

import pytest

from app.classroom.opening import READING
from app.classroom.reading import without_answers
from app.settings import Settings
from app.store import Store, open_store
from app.web.handlers import READ
from tests.app.secrets import betrayed
from tests.classroom.running import ClassServing, Teacher, Visitor

IN_THE_QUESTION = {"7.5"}  # the word list above the questions computes the KV of R01 as its example
PAGES = sorted(READ.glob("*/*.html"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}/{page.name}")
def test_no_page_keeps_its_answers(page: Path) -> None:
    found = without_answers(page.name, page.read_text(encoding="utf-8"), "<p>later</p>")
    if found is None:
        assert page.stem.endswith(("-kv", "-sheet"))
        return
    assert 'class="answers"' not in found
    assert found.count("<details") == found.count("</details>")
    assert found.rstrip().endswith("</html>")
    if 'id="answers"' in page.read_text(encoding="utf-8"):
        assert "<p>later</p>" in found
        assert 'id="predict"' in found


def test_the_main_page_has_no_number_left_that_answers_it() -> None:
    for language in ("en", "zh"):
        page = (READ / language / "main.html").read_text(encoding="utf-8")
        found = without_answers("main.html", page, "")
        assert betrayed(page) != []
        assert found is not None
        assert set(betrayed(found)) <= IN_THE_QUESTION


def test_details_within_details_go_with_them() -> None:
    page = 'a<details class="answers">b<details>c</details>d</details>e<details>f</details>'
    assert without_answers("x.html", page, "N") == "aNe<details>f</details>"
    assert without_answers("x.html", 'a<details class="answers">b', "N") == "aN"


def test_pages_that_are_only_a_run_are_closed() -> None:
    assert without_answers("main-kv.html", "<main></main>", "") is None
    assert without_answers("index.html", "<main></main>", "") == "<main></main>"


@pytest.fixture
def teacher(school: ClassServing) -> Iterator[Teacher]:
    found = Teacher(school)
    yield found
    decide(found, False)


def decide(teacher: Teacher, value: bool, **how: str) -> int:
    return teacher.post("/teach/reading", open=int(value), sure=1, **how).status


def test_the_answers_come_when_the_teacher_opens_them(school: ClassServing, teacher: Teacher) -> None:
    learner = Visitor(school.url)
    for language, notice in (("en", "after the vote"), ("zh", "投票之后")):
        page = learner.get(f"/read/{language}/main.html")
        assert page.status == 200
        assert notice in page.text
        assert 'class="answers"' not in page.text
        closed = learner.get(f"/read/{language}/main-kv.html", **{"Accept-Language": language})
        assert closed.status == 403
        assert notice in closed.text
    assert decide(teacher, True) == 200
    assert 'class="answers"' in learner.get("/read/en/main.html").text
    assert learner.get("/read/en/main-kv.html").status == 200
    assert decide(teacher, False) == 200
    assert 'class="answers"' not in learner.get("/read/en/main.html").text


def test_one_press_opens_nothing(school: ClassServing, teacher: Teacher) -> None:
    page = teacher.post("/teach/reading?exercise=main&lang=en", open=1)
    assert page.url.endswith("&ask=reading#reading")
    assert "Show the answers of all exercises" in page.text
    assert "Yes: show them" in page.text
    assert 'class="answers"' not in Visitor(school.url).get("/read/en/main.html").text
    assert decide(teacher, True) == 200
    assert "Yes: show them" not in teacher.get("/teach?lang=en&ask=reading").text


def test_nobody_else_opens_them(school: ClassServing, teacher: Teacher) -> None:
    form = Request(f"{school.teacher}/teach/reading", data=b"open=1", headers={"Origin": school.teacher})
    assert Visitor(school.teacher).send(form).status == 403
    for origin in ("http://evil.example", "null", school.teacher + ".evil.example", school.url):
        assert decide(teacher, True, origin=origin) == 403
    for token in ("x", "0" * 64):
        assert decide(teacher, True, token=token) == 403
    assert 'class="answers"' not in Visitor(school.url).get("/read/en/main.html").text


@pytest.mark.parametrize("path", ["/read/../pyproject.toml", "/read/%2e%2e/pyproject.toml", "/read/x.html"])
def test_reading_stays_in_its_folder(school: ClassServing, path: str) -> None:
    assert Visitor(school.url).get(path).status in (403, 404)


def test_the_sheet_of_the_pages_is_served(school: ClassServing) -> None:
    visitor = Visitor(school.url)
    assert visitor.get("/read/style.css").headers["Content-Type"].startswith("text/css")
    assert visitor.get("/read").url == f"{school.url}/read/"


def test_what_was_opened_for_one_lesson_is_closed_for_the_next(folder: Path) -> None:
    now = [datetime(2030, 1, 1, tzinfo=UTC)]
    opened = open_store(Settings(data=folder))
    classes = Store(opened.engine, clock=lambda: now[0]).classes
    one = classes.start()
    since = now[0] - timedelta(hours=12)
    classes.decide(one.id, READING, True)
    assert classes.decided(one.id, since=since).of("") == {READING: True}
    assert classes.decided(one.id, since=now[0] + timedelta(seconds=1)).of("") == {}
    classes.decide(one.id, READING, False)
    assert classes.decided(one.id, since=since).of("") == {READING: False}
    assert classes.decided(classes.start().id).of("") == {}
    opened.close()
