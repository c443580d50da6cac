"""A learner: a browser context at a server, and what one does with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playwright.sync_api import BrowserContext, ConsoleMessage, Locator, Page, Route, expect

from app.settings import Settings
from app.store import Attempt, Draft, Progress, open_store
from tests.serving import Serving
from tests.ui.waiting import wait_without_eval

PATIENCE = 120_000  # ms
REQUIRED = {
    "immediate.R02.ttft": "1.20",
    "static.R02.ttft": "0.43",
    "continuous.R02.ttft": "0.1",
    "continuous.R01.tpot": "0.03",
    "R01.kv_mb": "7.5",
    "slow.R01.tpot": "1",
    "slow.R02.tpot": "1",
    "slow.R03.tpot": "1",
    "slow.R04.tpot": "1",
}
KNOWN = "Math.max(0, ...window.ticklab.runs.map((run) => run.strip.frames.length))"
FOCUSED = """() => {
  let element = document.activeElement
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement
  if (!element || element === document.body) return {}
  return {
    id: element.id, name: element.name ?? "", type: element.type ?? "",
    classes: element.className, command: element.dataset.command ?? "",
  }
}"""


class Learner:
    """One browser. What it says on the console, sends and receives is kept; other hosts are out of reach."""

    def __init__(self, context: BrowserContext, server: Serving) -> None:
        self.context = context
        self.server = server
        self.complaints: list[str] = []
        self.expected: list[str] = []  # parts of complaints that this test means to cause
        self.outside: list[str] = []
        self.sent: list[str] = []
        self.received: list[str] = []
        context.set_default_timeout(PATIENCE)
        context.route(lambda url: not url.startswith(server.url), self._refuse)
        self.page = self.new_page()

    def new_page(self) -> Page:
        """Another tab of the same browser."""
        page = self.context.new_page()
        wait_without_eval(page, PATIENCE)
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("websocket", self._connected)
        return page

    def _refuse(self, route: Route) -> None:
        self.outside.append(route.request.url)
        route.abort()

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def _connected(self, socket: Any) -> None:
        socket.on("framesent", lambda data: self.sent.append(_text(data)))
        socket.on("framereceived", lambda data: self.received.append(_text(data)))

    def leave(self) -> None:
        """Close the browser. It must have been quiet and at home."""
        self.context.close()
        loud = [said for said in self.complaints if not any(part in said for part in self.expected)]
        assert not loud, loud
        assert not self.outside, self.outside

    # ---- the page ------------------------------------------------------------------------------

    def open(self, query: str = "", page: Page | None = None) -> Page:
        """The page, ready for use."""
        page = page or self.page
        page.goto(self.server.page + query)
        self.ready(page)
        return page

    def ready(self, page: Page | None = None) -> None:
        page = page or self.page
        page.wait_for_selector("html[data-ready=true]")
        page.wait_for_function("Bokeh.documents.some((one) => one.is_idle)")

    def at(self, step: str) -> None:
        """Wait until the lesson has come to ``step``."""
        expect(self.page.locator("html")).to_have_attribute("data-step", step, timeout=PATIENCE)

    def reload(self) -> None:
        self.page.reload()
        self.ready()

    def find(self, selector: str) -> Locator:
        return self.page.locator(selector)

    # ---- the steps, by pointer --------------------------------------------------------------------

    def read(self, query: str = "") -> None:
        self.open(query)
        self.find("[data-command=read]").click()
        self.at("predict")

    def fill(self, **changes: str) -> None:
        """Every required answer; ``changes`` by field, with two underscores for a dot."""
        for key, text in (REQUIRED | {key.replace("__", "."): text for key, text in changes.items()}).items():
            self.find(f"#predict [name='{key}']").fill(text)
        self.find("#predict input[name='p95.best'][value=continuous]").check()
        self.find("#predict input[name=confidence][value='3']").check()

    def lock(self) -> None:
        self.find("#predict button[type=submit]").click()
        self.at("run")

    def predict(self, query: str = "") -> None:
        """From the first page to the lock."""
        self.read(query)
        self.fill()
        self.lock()

    def step(self) -> None:
        known = self.known()
        self.find("#run button.step").click()
        self.page.wait_for_function("known => window.ticklab.tick >= known", arg=known)

    def run(self) -> None:
        """To the end."""
        self.find("#run button.end").click()
        self.at("observe")

    def observe(self, text: str = "1.1") -> None:
        self.find("#observed").fill(text)
        self.find("#observe-form button").click()
        self.at("verdict")
        expect(self.find("#verdict-content table").first).to_be_visible()

    def known(self) -> int:
        """Ticks that the browser has."""
        return int(self.page.evaluate(KNOWN))

    def knows(self, count: int) -> None:
        """Wait until the browser has the first ``count`` ticks, and no more."""
        self.page.wait_for_function(f"count => window.ticklab && {KNOWN} === count", arg=count)

    def tick(self) -> int:
        """The tick the page shows."""
        return int(self.page.evaluate("window.ticklab.tick"))

    def server_seed(self, exercise: str) -> int | None:
        """The seed of this learner's newest attempt, as the server keeps it."""
        return self._kept(exercise)[0].seed

    def kept_tick(self, tick: int, exercise: str = "main") -> None:
        """Wait until the server has kept that this learner looks at ``tick``."""
        self._until(lambda: self._kept(exercise)[1].tick == tick, f"tick {tick}")

    def kept_draft(self, exercise: str = "main", **texts: str) -> None:
        """Wait until the server has kept what was typed; two underscores for a dot."""
        wanted = {key.replace("__", "."): text for key, text in texts.items()}.items()
        self._until(lambda: wanted <= self._kept(exercise)[2].answers.items(), f"the draft {texts}")

    def _until(self, true: Callable[[], bool], what: str) -> None:
        for _ in range(PATIENCE // 100):
            if true():
                return
            self.page.wait_for_timeout(100)
        raise AssertionError(f"the server never kept {what}")

    def _kept(self, exercise: str) -> tuple[Attempt, Progress, Draft]:
        """The newest attempt, its progress and what is typed in it, read from the server's store."""
        cookies = {cookie["name"]: cookie["value"] for cookie in self.context.cookies()}
        store = open_store(Settings(data=self.server.folder / "data"))
        try:
            attempt = store.latest(cookies["ticklab_learner"], exercise)
            assert attempt is not None
            return attempt, store.progress(attempt.place), store.draft(attempt.place)
        finally:
            store.close()

    # ---- the keyboard -------------------------------------------------------------------------------

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def focused(self) -> dict[str, str]:
        """What has the focus, however deep."""
        return dict(self.page.evaluate(FOCUSED))

    def tab_to(self, **wanted: str) -> None:
        """Press Tab until what has the focus is as wanted. Fails when it never comes."""
        seen = []
        for _ in range(120):
            self.press("Tab")
            focused = self.focused()
            if all(wanted[key] in focused.get(key, "") for key in wanted):
                return
            seen.append(focused)
        raise AssertionError(f"Tab never came to {wanted}: {seen}")


def _text(data: Any) -> str:
    return data if isinstance(data, str) else repr(data)
