"""Two servers behind the project's nginx, one PostgreSQL: learners spread, stay, move, and lose nothing."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable
from http.cookiejar import CookieJar

import pytest
from playwright.sync_api import expect

from app.settings import Settings
from app.store import open_store
from tests.app.socket_client import SocketClient, roots
from tests.classroom.running import Visitor
from tests.deploy.conftest import Pair
from tests.ui.learner import REQUIRED, Learner

pytestmark = pytest.mark.slow

LEARNERS = 16


def joined(pair: Pair) -> Visitor:
    visitor = Visitor(pair.url)
    assert visitor.get(f"/?code={pair.keys.join}").url == f"{pair.url}/"
    return visitor


def cookies(jar: CookieJar) -> str:
    return "; ".join(f"{one.name}={one.value}" for one in jar)


def servers_of(pair: Pair, path: str) -> dict[str, set[str]]:
    """Which servers answered each learner's requests for ``path``."""
    found: dict[str, set[str]] = {}
    for server, _, learner, address in pair.front.requests():
        if address.startswith(path) and len(learner) == 32:
            found.setdefault(learner, set()).add(server)
    return found


async def locked(pair: Pair, visitor: Visitor, why: str) -> None:
    """Open the page and the websocket as this visitor, and lock."""
    client = SocketClient(f"{pair.url}/app", cookies(visitor.jar))
    async with client:
        models = roots(client.document)
        draft = {**REQUIRED, "p95.best": "continuous", "confidence": "3", "why": why}
        await client.event(models["desk"]["id"], {"name": "read"})
        await client.event(models["form"]["id"], {"type": "lock", "draft": draft})
        place = models["form"]["attributes"]["data"]["id"], "locked"
        await client.until(lambda: client.values.get(place) is True, "the lock")  # the database has it


def test_learners_are_spread_and_each_stays(pair: Pair) -> None:
    visitors = [joined(pair) for _ in range(LEARNERS)]
    names = [visitor.cookie("ticklab_learner").value for visitor in visitors]
    for number, visitor in enumerate(visitors):
        asyncio.run(locked(pair, visitor, f"spread {number}"))
        for _ in range(3):
            assert 'data-step="run"' in visitor.get("/app").text
    give_up = time.monotonic() + 120
    while set(names) - set(servers_of(pair, "/lab/app/ws")):  # nginx notes a websocket when it is over
        assert time.monotonic() < give_up
        time.sleep(0.1)
    by_page, by_socket = servers_of(pair, "/lab/app"), servers_of(pair, "/lab/app/ws")
    assert all(len(by_page[name]) == 1 for name in names), by_page
    assert all(by_socket[name] == by_page[name] for name in names)
    spread = Counter(next(iter(by_page[name])) for name in names)
    assert len(spread) == 2, spread


def test_all_locks_are_in_the_one_database(pair: Pair) -> None:
    for number in range(4):
        asyncio.run(locked(pair, joined(pair), f"one {number}"))
    store = open_store(Settings(data=pair.servers[0].folder, database_url=pair.database))
    kept = [one.why for one in store.predictions()]
    store.close()
    assert {f"one {number}" for number in range(4)} <= set(kept)
    assert len(kept) == len(set(kept))
    teacher = Visitor(pair.servers[1].teacher)
    assert teacher.get(f"/teach?key={pair.keys.teacher}").status == 200
    exported = json.loads(teacher.get("/teach/predictions.json?hours=0").body)
    assert sorted(one["why"] for one in exported) == sorted(kept)


def test_the_servers_share_their_secrets(pair: Pair) -> None:
    """A cookie given by one opens the other; a learner's own address is seen through the proxy."""
    visitor = joined(pair)
    for server in pair.servers:
        direct = Visitor(f"http://127.0.0.1:{server.port}/lab")
        direct.jar = visitor.jar
        page = direct.get("/app", Cookie=cookies(visitor.jar))
        assert page.url.endswith("/lab/app"), page.url
        assert 'data-step="' in page.text
    assert visitor.cookie("ticklab_joined").path == "/lab/"


@pytest.mark.ui
def test_when_a_server_dies_its_learners_go_on_at_the_other(
    learners: Callable[..., Learner], pair: Pair
) -> None:
    made = [learners(pair) for _ in range(6)]
    for number, learner in enumerate(made):
        learner.expected += ["WebSocket", "websocket", "Lost", "bokeh", "502", "504", "Failed to load"]
        learner.page.goto(f"{pair.url}/?code={pair.keys.join}")
        learner.predict("?lang=en")
        if number % 2:
            learner.run()
        learner.page.evaluate("window.same = true")
    victim = pair.of(next(iter(_servers(pair, made[0]))))
    dead, alive = (f"127.0.0.1:{one.port}" for one in sorted(pair.servers, key=lambda one: one is not victim))
    hit = [dead in _servers(pair, learner) for learner in made]
    victim.stop(kill=True)
    try:
        for number, (learner, is_hit) in enumerate(zip(made, hit, strict=True)):
            if is_hit:  # it comes back by itself, as a new page
                learner.page.wait_for_function("window.same !== true", timeout=180_000)
                learner.ready()
            learner.at("observe" if number % 2 else "run")
            expect(learner.find("#predict")).to_contain_text("1.2 s")
            learner.run() if not number % 2 else None
            learner.observe()
            assert learner.page.evaluate("window.same === true") != is_hit
            assert alive in _servers(pair, learner)
    finally:
        victim.start()


def _servers(pair: Pair, learner: Learner) -> set[str]:
    """Which servers have given this learner a page."""
    return servers_of(pair, "/lab/app?")[_name(learner)]


def _name(learner: Learner) -> str:
    found = [one for one in learner.context.cookies() if one["name"] == "ticklab_learner"]
    return str(found[0]["value"])
