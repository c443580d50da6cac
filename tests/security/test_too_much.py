"""When too many pages are opened: a notice that asks again by itself, in words; all else goes on."""

from __future__ import annotations

from collections.abc import Iterator
from string import Formatter

import pytest

from app.web.notices import SAID, web_words
from tests.security.hostile import intruders
from tests.serving import ROOT, Answer, Serving, serving

FEW = "from app.web import limits\nlimits.OPENING = limits.Rate(burst=3, per_second=0.001)\n"


@pytest.fixture(scope="module")
def hurried(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A server that opens three pages at once for an address, and then hardly any."""
    folder = tmp_path_factory.mktemp("hurried")
    (folder / "sitecustomize.py").write_text(FEW)
    with serving(folder, PYTHONPATH=f"{folder}:{ROOT}") as server:
        yield server


def test_one_page_too_many_waits_and_asks_again(hurried: Serving) -> None:
    pages = [Answer(hurried.page + "?lang=en") for _ in range(5)]
    assert [page.status for page in pages] == [200, 200, 200, 429, 429]
    assert "Many pages are being opened at once" in pages[-1].text
    assert 'http-equiv="refresh"' in pages[-1].text
    assert int(pages[-1].headers["Retry-After"]) >= 5
    assert "同时打开的页面太多" in Answer(hurried.page + "?lang=zh").text
    assert Answer(f"{hurried.url}/read/en/").status == 200
    assert Answer(f"{hurried.url}/healthz").status == 200
    assert hurried.faults() == []


def test_a_full_lab_says_so(tmp_path_factory: pytest.TempPathFactory) -> None:
    with serving(tmp_path_factory.mktemp("full"), TICKLAB_MOST_SESSIONS="2") as server:
        pages = [
            Answer(server.page + "?lang=en&x=<script>alert(1)</script>".replace("<", "%3C")) for _ in range(3)
        ]
        assert [page.status for page in pages] == [200, 200, 503]
        assert "The lab is full" in pages[-1].text
        assert intruders(pages[-1].text) == []


def test_notices_say_the_same_in_both_languages() -> None:
    english, chinese = web_words("en").texts, web_words("zh").texts
    assert english.keys() == chinese.keys()
    for key, text in english.items():
        blanks = [{name for _, name, _, _ in Formatter().parse(one) if name} for one in (text, chinese[key])]
        assert blanks[0] == blanks[1], key
    for status in (*SAID, 500):
        assert {f"notice.{status}.title", f"notice.{status}.text"} <= english.keys()
