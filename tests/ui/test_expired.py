"""C03: the token in a page has run out. Back, a tab that is restored, a page out of a copy: never blank."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserType, Page, Route, expect

from app.bench.socket_client import TOKEN
from app.words import app_words
from tests.serving import Serving
from tests.ui.cable import Cable
from tests.ui.learner import Learner
from tests.ui.test_reconnect import BACK, FIELD, NETWORK, cabled
from tests.ui.waiting import wait_without_eval

pytestmark = pytest.mark.ui

LIFE = 15  # seconds of a token; a busy machine takes some of them to build and to load a page
REFUSED = "Token is expired"


@pytest.fixture
def short_lived(tmp_path: Path) -> Iterator[tuple[Serving, Cable]]:
    with cabled(tmp_path, "--session-token-expiration", str(LIFE)) as pair:
        yield pair


def expiry(html: str) -> int:
    """When the token in a page runs out, in seconds since 1970."""
    token = TOKEN.search(html)
    assert token is not None
    payload = token[1].split(".")[0]
    return int(json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))["session_expiry"])


def until_expired(page: Page, html: str) -> None:
    page.wait_for_function("until => Date.now() / 1000 > until", arg=expiry(html) + 1, timeout=BACK)


def html_of(page: Page, address: str) -> str:
    """The page as the server sent it."""
    answer = page.goto(address)
    assert answer is not None
    assert answer.status == 200
    return answer.text()


def typed(learner: Learner, language: str = "en") -> str:
    """A page with something typed in it; the page as it came."""
    learner.expected += NETWORK
    html = html_of(learner.page, f"{learner.server.page}?lang={language}")
    learner.ready()
    learner.find("[data-command=read]").click()
    learner.at("predict")
    learner.find(FIELD).fill("0.66")
    return html


def is_usable(page: Page, learner: Learner) -> None:
    """Not blank, alive, with what was typed; and the server takes a lock."""
    learner.page = page
    learner.ready()
    learner.at("predict")
    expect(learner.find(FIELD)).to_have_value("0.66")
    learner.fill(static__R02__ttft="0.66")
    learner.lock()


def refusals(server: Serving) -> list[str]:
    """What the log says of tokens that ran out; nothing else may be in it."""
    text = server.log.read_text()
    assert "Traceback" not in text, text
    return [line for line in text.splitlines() if REFUSED in line]


def come_back(learner: Learner, server: Serving) -> None:
    """Away to another page until the session is gone, then the browser's own way back."""
    html = typed(learner)
    learner.page.goto(f"{server.url}/read/en/")
    until_expired(learner.page, html)
    learner.page.go_back()
    is_usable(learner.page, learner)
    assert refusals(server) == []
    learner.leave()


def test_c03_browser_back(short_lived: tuple[Serving, Cable], learners: Callable[..., Learner]) -> None:
    server, _ = short_lived
    come_back(learners(server), server)


def test_c03_a_tab_that_is_opened_again(
    short_lived: tuple[Serving, Cable], learners: Callable[..., Learner]
) -> None:
    server, _ = short_lived
    learner = learners(server)
    html = typed(learner)
    address = learner.page.url
    learner.page.close()
    page = learner.new_page()
    until_expired(page, html)
    page.goto(address)
    is_usable(page, learner)
    assert refusals(server) == []
    learner.leave()


class SlowScripts:
    """Holds back Bokeh's script of a page, so that the token in it runs out before it is used."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.held: list[Route] = []
        self.over = False
        page.route("**/bokeh.min.js*", self._asked)

    def _asked(self, route: Route) -> None:
        if self.over:
            route.continue_()
        else:
            self.held.append(route)

    def let_go(self, *, over: bool = False) -> None:
        """The next script that is asked for comes when the token has run out; all others when it is over."""
        while not self.held:
            self.page.wait_for_timeout(50)
        until = time.time() + LIFE + 1  # the token was made before the script was asked for
        self.page.wait_for_function("until => Date.now() / 1000 > until", arg=until, timeout=BACK)
        self.over = over
        self.held.pop().continue_()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_c03_a_page_whose_token_ran_out_while_it_came_is_asked_for_anew(
    language: str, short_lived: tuple[Serving, Cable], learners: Callable[..., Learner]
) -> None:
    server, _ = short_lived
    learner = learners(server)
    typed(learner, language)
    page = learner.new_page()
    slow = SlowScripts(page)
    page.goto(learner.page.url, wait_until="commit")
    slow.let_go(over=True)
    is_usable(page, learner)
    assert len(refusals(server)) == 1
    learner.leave()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_c03_a_page_that_never_comes_to_life_says_so(
    language: str, short_lived: tuple[Serving, Cable], learners: Callable[..., Learner]
) -> None:
    """It goes wrong each time: after three more tries words and a way out, in the language of the page."""
    server, _ = short_lived
    learner = learners(server)
    typed(learner, language)
    page = learner.new_page()
    slow = SlowScripts(page)
    page.goto(learner.page.url, wait_until="commit")
    for _ in range(4):
        slow.let_go()
    words = app_words(language)
    said = f"{words('offline.late.title')} {words('offline.late')}"
    expect(page.locator("#offline [data-said]:visible")).to_have_text([said], timeout=BACK)
    expect(page.locator("h1")).to_be_visible()
    page.unroute_all()
    page.locator("#offline a").click()
    is_usable(page, learner)
    assert len(refusals(server)) == 4
    learner.leave()


def test_c03_a_cut_longer_than_the_token_lives(
    short_lived: tuple[Serving, Cable], learners: Callable[..., Learner]
) -> None:
    server, cable = short_lived
    learner = learners(server)
    html = typed(learner)
    cable.pull()
    expect(learner.find("#offline")).to_be_visible()
    learner.find("#f-why").fill("typed in the dark")
    until_expired(learner.page, html)
    cable.plug()
    expect(learner.find("#offline")).to_be_hidden(timeout=BACK)
    learner.ready()
    expect(learner.find("#f-why")).to_have_value("typed in the dark")
    expect(learner.find("#status")).to_have_text(app_words("en")("offline.back"))
    is_usable(learner.page, learner)
    assert len(refusals(server)) >= 1
    learner.leave()


@pytest.fixture
def remembering(
    browser_type: BrowserType, browser_type_launch_args: dict[str, Any], tmp_path: Path
) -> Iterator[Callable[[Serving], Learner]]:
    """Starts a Chromium that keeps pages it leaves, and at each start the tabs of the last time."""
    made: list[Learner] = []
    options = browser_type_launch_args | {
        "args": [*browser_type_launch_args["args"], "--restore-last-session"],
        "ignore_default_args": ["--disable-back-forward-cache"],
    }

    def start(server: Serving) -> Learner:
        context = browser_type.launch_persistent_context(tmp_path / "profile", **options)
        made.append(Learner(context, server))
        return made[-1]

    yield start
    for learner in made:
        learner.context.close()


def restored(learner: Learner, server: Serving) -> Page:
    """The tab of the last time, which comes when the browser is there already."""
    for _ in range(BACK // 100):
        for page in learner.context.pages:
            if page.url.startswith(server.page):
                wait_without_eval(page, BACK)
                return page
        learner.page.wait_for_timeout(100)
    raise AssertionError("the browser opened no tab of the last time")


def test_c03_back_to_a_page_the_browser_kept(
    short_lived: tuple[Serving, Cable], remembering: Callable[[Serving], Learner]
) -> None:
    server, _ = short_lived
    come_back(remembering(server), server)


def test_c03_a_browser_that_restores_its_tabs(
    short_lived: tuple[Serving, Cable], remembering: Callable[[Serving], Learner]
) -> None:
    server, _ = short_lived
    learner = remembering(server)
    html = typed(learner)
    until_expired(learner.page, html)
    learner.leave()
    again = remembering(server)
    again.expected += NETWORK
    is_usable(restored(again, server), again)
    assert refusals(server) == []
    again.leave()
