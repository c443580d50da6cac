"""The whole lab under /lab/: by ``python -m app`` and by ``panel serve``; every link leads somewhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from urllib.parse import urldefrag, urljoin, urlsplit

import pytest
from playwright.sync_api import expect

from app.classroom.keys import Keys, keys_in
from tests.classroom.running import ClassServing, Teacher, Visitor
from tests.serving import Answer, Serving
from tests.ui.learner import Learner

PREFIX = "/lab"


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found |= {value or "" for name, value in attributes if name in ("href", "src", "action")}


def links(page: str, base: str) -> set[str]:
    """The addresses that a page on ``base`` leads to."""
    looker = _Links()
    looker.feed(page)
    return {urldefrag(urljoin(base, link))[0] for link in looker.found}


@pytest.fixture(scope="module")
def school(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClassServing]:
    server = ClassServing(tmp_path_factory.mktemp("prefixed"))
    server.options = ["--prefix", PREFIX]
    try:
        server.start()
        server.at(server.port)
        server.url += PREFIX
        server.page = f"{server.url}/app"
        yield server
        assert server.faults() == []
    finally:
        server.stop()


@pytest.fixture(scope="module")
def keys(school: ClassServing) -> Keys:
    return keys_in(school.folder / "data")


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """``panel serve app --prefix /lab``."""
    server = Serving(tmp_path_factory.mktemp("plain"))
    server.options = ["--prefix", PREFIX]
    try:
        server.start()
        yield server
    finally:
        server.stop()


def walk(visitor: Visitor, starts: list[str], most: int = 90) -> dict[str, int]:
    """The status of everything that can be reached from ``starts`` without leaving the server."""
    seen: dict[str, int] = {}
    waiting = [visitor.root + start for start in starts]
    while waiting and len(seen) < most:
        address = waiting.pop(0)
        if address in seen or not address.startswith(visitor.root[: -len(PREFIX)]):
            continue
        reply = visitor.get(address.removeprefix(visitor.root)) if address.startswith(visitor.root) else None
        seen[address] = reply.status if reply else 0
        if reply and "text/html" in (reply.headers["Content-Type"] or ""):
            waiting += sorted(links(reply.text, reply.url) - set(seen) - set(waiting))
    return seen


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_link_of_a_class_resolves_below_the_prefix(
    school: ClassServing, keys: Keys, language: str
) -> None:
    visitor = Visitor(school.url)
    assert visitor.get(f"/?code={keys.join}&lang={language}").url.startswith(f"{school.url}/")
    found = walk(visitor, ["/", f"/app?lang={language}", f"/read/{language}/", "/nothing/at/all"])
    assert len(found) > 60
    missing = f"{school.url}/nothing/at/all"
    assert {a: s for a, s in found.items() if s not in (200, 403) and a != missing} == {}
    assert found[missing] == 404
    closed = [urlsplit(address).path for address, status in found.items() if status == 403]
    assert all(re.search(r"-(kv|sheet)\.html$", path) for path in closed), closed


def test_cookies_belong_to_the_prefix(school: ClassServing, keys: Keys) -> None:
    visitor = Visitor(school.url)
    visitor.get(f"/?code={keys.join}")
    assert visitor.cookie("ticklab_joined").path == f"{PREFIX}/"


def test_the_teachers_own_server_has_no_prefix(school: ClassServing) -> None:
    assert Teacher(school).cookie("ticklab_teacher").path == "/teach"


def test_the_printed_addresses_have_the_prefix(school: ClassServing, keys: Keys) -> None:
    said = school.log.read_text()
    assert f"http://127.0.0.1:{school.port}{PREFIX}/" in said
    assert f"{school.teacher}/teach?key={keys.teacher}" in said


def test_without_its_slash_the_prefix_leads_to_the_way_in(school: ClassServing) -> None:
    page = Visitor(school.url).get("")
    assert page.url == f"{school.url}/"
    assert 'id="code"' in page.text


def test_without_a_code_the_lab_leads_to_the_way_in(school: ClassServing) -> None:
    assert Visitor(school.url).get("/app").url == f"{school.url}/"


def test_beside_the_prefix_there_is_nothing(school: ClassServing) -> None:
    root = school.url.removesuffix(PREFIX)
    for path in ("/", "/app", "/read/", "/healthz", "/teach", "/static/js/bokeh.min.js", "/labyrinth"):
        assert Answer(root + path).status == 404


def test_panel_serve_knows_the_prefix(plain: Serving) -> None:
    visitor = Visitor(plain.url + PREFIX)
    found = walk(visitor, ["/app", "/read/", "/nothing"])
    missing = f"{plain.url}{PREFIX}/nothing"
    assert {a: s for a, s in found.items() if s != 200 and a != missing} == {}
    assert visitor.get("").url == f"{plain.url}{PREFIX}/app"


@pytest.mark.ui
def test_the_exercise_under_a_prefix(
    learners: Callable[..., Learner], school: ClassServing, keys: Keys
) -> None:
    learner = learners(school)
    learner.page.goto(f"{school.url}/")
    learner.find("#code").fill(keys.join)
    learner.find("form button").click()
    learner.find("form[method=post] button.primary").click()
    learner.ready()
    learner.read("?lang=zh")
    learner.fill()
    learner.lock()
    learner.step()
    learner.run()
    learner.observe()
    learner.reload()
    learner.at("verdict")
    learner.find("nav a[href$='main.html']").click()
    expect(learner.page).to_have_url(f"{school.url}/read/zh/main.html")
    expect(learner.find("h1")).to_be_visible()
