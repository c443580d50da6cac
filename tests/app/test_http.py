"""What plain HTTP gives: the page in both languages, without a script, without an answer; and the rest."""

from __future__ import annotations

import re

import pytest

from puzzles import load, names
from tests.app.secrets import answers, betrayed
from tests.serving import Answer, Serving

COOKIE = re.compile(r"ticklab_learner=([0-9a-f]{32});")


def test_the_page_has_its_frame(lab: Serving) -> None:
    page = Answer(lab.page)
    assert page.status == 200
    for part in (
        '<html lang="en"',
        'name="viewport" content="width=device-width, initial-scale=1"',
        'class="skip" href="#main"',
        '<main id="main"',
        "<h1>",
        "<title>",
        'aria-current="step"',
        'role="status" aria-live="polite"',
        "<noscript>",
        'href="?lang=zh"',
    ):
        assert part in page.text


@pytest.mark.parametrize(
    ("query", "headers", "expected"),
    [
        ("", {}, "en"),
        ("?lang=zh", {}, "zh-CN"),
        ("", {"Accept-Language": "zh-CN,zh;q=0.9,en;q=0.8"}, "zh-CN"),
        ("", {"Accept-Language": "fr;q=0.9,en;q=0.2,zh;q=0.1"}, "en"),
        ("", {"Cookie": "ticklab_language=zh", "Accept-Language": "en"}, "zh-CN"),
        ("?lang=en", {"Cookie": "ticklab_language=zh"}, "en"),
        ("?lang=xx", {"Accept-Language": "tlh"}, "en"),
        ("?lang=%ff%00<script>", {}, "en"),
    ],
)
def test_the_language_is_the_readers(
    lab: Serving, query: str, headers: dict[str, str], expected: str
) -> None:
    page = Answer(lab.page + query, **headers)
    assert f'<html lang="{expected}"' in page.text
    assert ("你的预测" in page.text) == (expected == "zh-CN")


def test_the_language_is_kept(lab: Serving) -> None:
    assert "ticklab_language=zh" in str(Answer(lab.page + "?lang=zh").headers)


def test_without_a_script_the_exercise_is_there(lab: Serving) -> None:
    text = Answer(lab.page).text
    for part in ("R01", "R04", "0.38", "read/en/", "24 prompt tokens"):
        assert part in text


def test_the_page_gives_no_answer_away(lab: Serving) -> None:
    assert len(answers()) > 5
    assert betrayed(Answer(lab.page).text) == []
    assert betrayed("R02 waits 1.20 s") == ["1.20"]


def test_every_browser_gets_a_name_of_its_own(lab: Serving) -> None:
    names = {COOKIE.search(str(Answer(lab.page).headers))[1] for _ in range(3)}
    assert len(names) == 3
    name = names.pop()
    again = str(Answer(lab.page, Cookie=f"ticklab_learner={name}").headers)
    assert f"ticklab_learner={name};" in again
    assert "HttpOnly" in again
    assert "SameSite=Lax" in again


@pytest.mark.parametrize("name", ["", "x", "../../etc", "'; drop table", "A" * 32, "0" * 33])
def test_a_name_that_is_none_is_replaced(lab: Serving, name: str) -> None:
    answer = str(Answer(lab.page, Cookie=f'ticklab_learner="{name}"').headers)
    assert COOKIE.search(answer)[1] != name


def test_read_is_served(lab: Serving) -> None:
    index = Answer(f"{lab.url}/read/")
    assert index.status == 200
    assert "<html" in index.text
    assert Answer(f"{lab.url}/read").status == 200
    for language in ("en", "zh"):
        assert Answer(f"{lab.url}/read/{language}/").status == 200


@pytest.mark.parametrize(
    "path",
    ["/read/../pyproject.toml", "/read/%2e%2e/pyproject.toml", "/read/nothing.html", "/read//etc/passwd"],
)
def test_read_stays_in_its_folder(lab: Serving, path: str) -> None:
    assert Answer(lab.url + path).status in (403, 404)


def test_healthz(lab: Serving) -> None:
    health = Answer(f"{lab.url}/healthz")
    assert (health.status, health.text) == (200, '{"database": true, "worker": "ready"}')


def test_the_root_leads_to_the_page(lab: Serving) -> None:
    assert '<main id="main"' in Answer(lab.url).text


def test_scripts_travel_compressed_and_whole(lab: Serving) -> None:
    page = Answer(lab.page).text
    addresses = re.findall(r'(?:src|href)="((?:static|components|lab)/[^"]+\.(?:js|css)[^"]*)"', page)
    assert len(addresses) > 4
    for address in addresses:
        plain = Answer(f"{lab.url}/{address}")
        small = Answer(f"{lab.url}/{address}", **{"Accept-Encoding": "gzip"})
        assert plain.status == small.status == 200
        if len(plain.body) < 1024:
            continue
        assert small.headers["Content-Encoding"] == "gzip", address
        assert len(small.body) < len(plain.body)


def test_the_page_weighs_less_than_a_megabyte(lab: Serving) -> None:
    page = Answer(lab.page, **{"Accept-Encoding": "gzip"})
    text = Answer(lab.page).text
    addresses = re.findall(r'(?:src|href)="((?:static|components|lab)/[^"]+\.(?:js|css)[^"]*)"', text)
    sizes = {a: len(Answer(f"{lab.url}/{a}", **{"Accept-Encoding": "gzip"}).body) for a in addresses}
    assert sum(sizes.values()) + len(page.body) < 1_000_000, sizes


@pytest.mark.parametrize(
    "path",
    [
        "/components/app.worker.child/Bench/_js/child.py",
        "/components/torch/Tensor/_js/x.js",
        "/components/app.components.base/LabComponent/_js/base.py",
        "/components/app.pages.desk/Desk/_css/desk.py",
    ],
)
def test_component_files_are_those_listed_and_no_others(lab: Serving, path: str) -> None:
    assert Answer(lab.url + path).status in (403, 404)


def test_no_address_of_another_host(lab: Serving) -> None:
    assert re.findall(r'(?:src|href|action)="(?:https?:)?//[^"]+', Answer(lab.page).text) == []


# ---- exercises by address -----------------------------------------------


def test_every_exercise_has_its_address(lab: Serving) -> None:
    text = Answer(lab.page + "?lang=en").text
    places = [text.index(f'href="?ex={name}"') for name in names()]
    assert places == sorted(places)
    assert text.count('aria-current="page"') == 1
    assert re.search(r'href="\?ex=main" aria-current="page"', text)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_page_follows_its_address(lab: Serving, language: str) -> None:
    page = Answer(f"{lab.page}?ex=censored-p95&lang={language}")
    words = load("censored-p95").words(language)
    assert page.status == 200
    assert f"<h1>{words('title')}</h1>" in page.text
    assert words("lead").replace(">", "&gt;") in page.text
    assert 'href="?ex=censored-p95" aria-current="page"' in page.text
    assert 'href="?ex=censored-p95&amp;lang=zh"' in page.text
    assert f'href="read/{language}/censored-p95.html"' in page.text


@pytest.mark.parametrize("asked", ["nope", "../main", "%3Cscript%3Ealert(1)%3C/script%3E", "x" * 5000, "%ff"])
def test_an_unknown_exercise_is_told_plainly(lab: Serving, asked: str) -> None:
    page = Answer(f"{lab.page}?lang=en&ex={asked}")
    assert page.status == 404
    assert "There is no such exercise" in page.text
    assert all(f'href="?ex={name}"' in page.text for name in names())
    assert "Traceback" not in page.text
    assert "<script>alert" not in page.text
    assert len(page.text) < 30_000
