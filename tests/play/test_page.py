"""The page over plain HTTP and without a browser: its address, its texts, what a browser may send."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from string import Formatter
from typing import Any

import pytest

from app.pages.learn import learn_page
from app.pages.serving import page_for
from app.pages.template import message_page
from app.play.desk import MOST_SIGNS, PlayDesk
from app.play.page import play_page
from app.play.presets import presets
from app.play.sheet import plain, text_of
from app.play.state import STATES
from app.play.words import play_page_words
from app.settings import Settings, read_settings
from app.store import Shares, open_store
from app.words import app_words
from engine.words import LANGUAGES
from puzzles.play.differences import REQUEST_FIGURES
from tests.play.sheets import EVIL, sheet
from tests.serving import ROOT, Answer, Serving, serving


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A server; nothing may go wrong on it."""
    with serving(tmp_path_factory.mktemp("lab")) as server:
        yield server
        assert server.faults() == [], server.log.read_text()


def test_the_address_decides_about_the_page() -> None:
    assert page_for({}) is learn_page
    assert page_for({"ex": [b"main"], "lang": [b"zh"]}) is learn_page
    assert page_for({"play": [b""]}) is play_page
    assert page_for({"lang": [b"zh"], "play": [b"abc"]}) is play_page


@pytest.mark.parametrize(("language", "title"), [("en", "Free play"), ("zh", "自由实验")])
def test_the_page_is_there_in_both_languages(lab: Serving, language: str, title: str) -> None:
    page = Answer(f"{lab.page}?play=&lang={language}")
    assert page.status == 200
    assert f"<h1>{title}</h1>" in page.text
    assert "python -m engine simulate" in page.text
    assert re.findall(r'(?:src|href|action)="(?:https?:)?//[^"]+', page.text) == []
    for name in ("decode_order", "prefix_cache", "slo_ttft"):
        assert f"<code>{name}</code>" in page.text


def test_the_page_weighs_less_than_a_megabyte(lab: Serving) -> None:
    page = Answer(f"{lab.page}?play=", **{"Accept-Encoding": "gzip"})
    addresses = re.findall(
        r'(?:src|href)="((?:static|components|lab)/[^"]+\.(?:js|css)[^"]*)"', Answer(f"{lab.page}?play=").text
    )
    sizes = [len(Answer(f"{lab.url}/{a}", **{"Accept-Encoding": "gzip"}).body) for a in addresses]
    assert sum(sizes) + len(page.body) < 1_000_000


def test_the_lesson_links_to_it(lab: Serving) -> None:
    assert 'href="?play="' in Answer(lab.page).text


@pytest.mark.parametrize("code", ["aaaaaaaaaa", "x", "../main", "%3Cscript%3E", "x" * 3000, "%ff"])
def test_an_unknown_link_is_told_plainly(lab: Serving, code: str) -> None:
    page = Answer(f"{lab.page}?lang=en&play={code}")
    assert page.status == 404
    assert "There is no such link" in page.text
    assert "<script>alert" not in page.text
    assert "Traceback" not in page.text


def test_a_link_is_shown_with_its_code(lab: Serving) -> None:
    store = open_store(Settings(data=lab.folder / "data"))
    code = Shares(store).keep(text_of(sheet(title=EVIL, name=EVIL)))
    store.close()
    page = Answer(f"{lab.page}?play={code}&lang=en")
    assert page.status == 200
    assert f'href="?play={code}&amp;lang=zh"' in page.text
    assert EVIL not in page.text


@pytest.mark.parametrize(
    "path",
    [
        "/components/app.play.child/Table/_js/child.py",
        "/components/app.play.state/Play/_js/state.py",
        "/components/app.play.desk/PlayDesk/_css/desk.py",
        "/components/app.play.desk/../child/Table/_js/x.js",
    ],
)
def test_only_the_desk_gives_files(lab: Serving, path: str) -> None:
    assert Answer(lab.url + path).status in (403, 404)


def test_where_it_is_closed_it_says_so(tmp_path_factory: pytest.TempPathFactory) -> None:
    with serving(tmp_path_factory.mktemp("closed"), TICKLAB_FREE_PLAY="false") as server:
        page = Answer(f"{server.page}?play=&lang=en")
        assert page.status == 404
        assert "Free play is closed here" in page.text
        assert 'href="?play="' not in page.text + Answer(server.page).text


@pytest.mark.parametrize(
    ("text", "is_open"),
    [
        ("", True),
        ("true", True),
        ("yes", True),
        ("false", False),
        ("No", False),
        ("0", False),
        ("off", False),
    ],
)
def test_the_environment_opens_and_closes_it(text: str, is_open: bool) -> None:
    assert read_settings({"HOME": "/h", "TICKLAB_FREE_PLAY": text}).free_play is is_open


@pytest.mark.parametrize("key", ["play.closed", "play.unknown"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_message_is_a_page(key: str, language: str) -> None:
    assert 'href="?"' in message_page(language, key)


# ---- what a browser may send --------------------------------------------------------------------------


def desk() -> tuple[PlayDesk, list[Any]]:
    made, wishes = PlayDesk(), []
    made.param.watch(lambda event: wishes.append(event.new), "wish")
    return made, wishes


def send(to: PlayDesk, text: str, wish: Any, size: int = 100) -> None:
    for place, start in enumerate(range(0, len(text), size)):
        to._handle_msg({"type": "piece", "place": place, "text": text[start : start + size]})
    to._handle_msg({"type": "wish", "wish": wish})


def test_a_sheet_comes_in_pieces() -> None:
    made, wishes = desk()
    send(made, json.dumps(plain(sheet())), "run")
    send(made, json.dumps(plain(sheet(tick="1.0"))), "look", size=7000)
    assert wishes == [("run", sheet()), ("look", sheet(tick="1.0"))]


@pytest.mark.parametrize(
    "data",
    [None, [], "run", {}, {"type": "wish"}, {"type": "wish", "wish": "eval"},
     {"type": "wish", "wish": ["run"]}, {"type": "piece", "text": 1}, {"type": "piece"}, {"type": ["stop"]}],
)  # fmt: skip
def test_what_has_another_form_is_passed_over(data: Any) -> None:
    made, wishes = desk()
    made._handle_msg(data)
    assert wishes == []


def test_what_is_no_sheet_is_none() -> None:
    made, wishes = desk()
    send(made, '{"setup": {"settings": {"evil": "1"}}}', "run")
    made._handle_msg({"type": "wish", "wish": "run"})
    assert wishes == [("run", None), ("run", None)]


def test_pieces_without_end_are_not_kept() -> None:
    made, _ = desk()
    for place in range(200):
        made._handle_msg({"type": "piece", "place": place, "text": "x" * 100_000})
    assert sum(map(len, made._pieces)) <= MOST_SIGNS


def test_a_stop_is_heard() -> None:
    made, _ = desk()
    heard: list[Any] = []
    made.param.watch(heard.append, "stop")
    made._handle_msg({"type": "stop"})
    assert len(heard) == 1


# ---- texts ----------------------------------------------------------------------------------------------


def blanks(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_both_languages_say_the_same_things() -> None:
    english, chinese = (play_page_words(language).texts for language in LANGUAGES)
    assert english.keys() == chinese.keys()
    for key, text in english.items():
        assert blanks(text) == blanks(chinese[key]), key
        if key != "state.idle":
            assert text.strip(), key
            assert chinese[key].strip(), key


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_named_by_data_has_words(language: str) -> None:
    words = play_page_words(language)
    keys = [f"preset.{preset['key']}" for preset in presets()]
    keys += [f"state.{state}" for state in STATES]
    keys += [f"figure.{name}" for name in REQUEST_FIGURES]
    keys += [f"error.{code}" for code in ("lost", "slow", "busy", "failed", "share.too_long", "share.full")]
    assert [key for key in keys if key not in words] == []


def test_every_text_that_is_used_is_there() -> None:
    used = re.compile(r"""(?:say|self\.words|words)\(\s*f?["']([a-z_.]+)["']\s*[,)]""")
    files = [*(ROOT / "app" / "templates").glob("play*.j2"), *(ROOT / "app" / "play").glob("*.py")]
    found = {key for file in files for key in used.findall(file.read_text())}
    own = found - app_words("en").texts.keys()
    assert len(own) > 40
    assert own - play_page_words("en").texts.keys() == set()
    script = (ROOT / "app" / "play" / "desk.js").read_text()
    said = {f"script.{name}" for name in re.findall(r"words\.([a-z_]+)", script)}
    assert len(said) > 5
    assert said - play_page_words("en").texts.keys() == set()
