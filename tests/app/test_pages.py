"""Parts of the page that need no browser: the frame, the desk's commands, the album."""

from __future__ import annotations

from typing import Any

import pytest

from app.pages import album as albums
from app.pages.album import Album
from app.pages.contents import contents, known_exercise
from app.pages.desk import clean
from app.pages.template import error_page, unknown_page, without
from engine import History
from puzzles import histories, load, names


@pytest.mark.parametrize(("language", "said"), [("en", "could not be built"), ("zh", "页面没能打开")])
def test_the_error_page_says_what_to_do(language: str, said: str) -> None:
    page = error_page(language)
    assert said in page
    assert "Traceback" not in page
    assert 'href="read/"' in page


def test_a_script_can_be_left_out() -> None:
    kept = '<script type="x" src="static/js/a.min.js?v=1"></script>\n'
    scripts = kept + '<script src="static/js/b-gl.js"></script>'
    assert without(scripts, "/b-gl.") == kept
    assert without(scripts, "/c.") == scripts


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"name": "read"}, {"name": "read"}),
        ({"name": "read", "text": "ignored"}, {"name": "read"}),
        ({"name": "observe", "text": "1.1"}, {"name": "observe", "text": "1.1"}),
        ({"name": "observe", "text": "x" * 501}, None),
        ({"name": "observe", "text": 1.1}, None),
        ({"name": "observe"}, None),
        ({"name": "_command"}, None),
        ({"name": ["read"]}, None),
        (["read"], None),
        (None, None),
    ],
)
def test_a_command_has_exactly_its_texts(data: Any, expected: dict[str, str] | None) -> None:
    assert clean(data) == expected


def first(history: History, ticks: int) -> History:
    return History(history.service, history.requests, history.records[:ticks])


def test_the_album_makes_a_picture_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    def counted(history: History, name: str, language: str) -> str:
        made.append((len(history.records), name, language))
        return f"{name} {len(history.records)} {language}"

    monkeypatch.setattr(albums, "run_view", counted)
    monkeypatch.setattr(albums, "KEPT", 3)
    book, run = Album(), histories(load("main"))["static"]
    for _ in range(3):
        assert book.view("k", first(run, 2), "static", "en") == "static 2 en"
    assert book.view("k", first(run, 3), "static", "en") == "static 3 en"
    assert book.view("k", first(run, 2), "static", "zh") == "static 2 zh"
    assert book.view("l", first(run, 2), "static", "en") == "static 2 en"
    assert len(made) == 4
    book.view("k", first(run, 2), "static", "en")
    assert len(made) == 5


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_list_holds_every_exercise_once(language: str) -> None:
    entries = [entry for chapter in contents(language) for entry in chapter.entries]
    assert tuple(entry.name for entry in entries) == names()
    assert len({entry.title for entry in entries}) == len(entries)


def test_only_an_exercise_is_known() -> None:
    assert known_exercise("tpot") == "tpot"
    assert [known_exercise(asked) for asked in (None, "", "course", "../main", "x" * 9999)] == [None] * 5


def test_a_name_that_nobody_knows_is_cut_short() -> None:
    assert "x" * 60 in unknown_page("en", "x" * 500)
    assert "x" * 61 not in unknown_page("en", "x" * 500)
