"""What a real Chromium sees beside the crowd: when a step is painted, what travels, what is sent."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

from app.bench.crowd import Crowd
from app.bench.figures import Browser, Spread, Weight, spread
from app.bench.learner import Learner
from app.bench.process import Running
from app.bench.weight import kind_of

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
PATIENCE = 60_000  # ms for one thing to come
SETTLED = 500  # ms for the last files of a page

PAINTED = """() => new Promise((resolve, reject) => {
  const began = performance.now()
  const before = window.ticklab.tick
  setTimeout(() => reject(new Error("no tick came")), 30000)
  const look = () => {
    if (window.ticklab.tick === before) { requestAnimationFrame(look); return }
    requestAnimationFrame(() => setTimeout(() => resolve((performance.now() - began) / 1000)))
  }
  document.querySelector("#run .controls [data-root-id] > *").shadowRoot.querySelector("button.step").click()
  look()
})"""
"""Press Step; the seconds until a frame with the new tick has been painted."""

FILL = """() => {
  const root = document.querySelector("#predict [data-root-id] > *").shadowRoot
  for (const field of root.querySelectorAll("input[name]")) {
    if (field.type === "radio") { if (!root.querySelector(`[name="${field.name}"]:checked`)) field.click() }
    else { field.value = "1"; field.dispatchEvent(new Event("input", { bubbles: true })) }
  }
}"""
"""Answer every question with something."""


SENT = """() => {
  const playing = window.playing = { on: false, sent: 0 }
  window.addEventListener("ticklab:tick", ({ detail }) => { playing.on = detail.playing })
  const send = WebSocket.prototype.send
  WebSocket.prototype.send = function (...message) {
    playing.sent += playing.on
    return send.apply(this, message)
  }
}"""
"""Count what is sent while the run plays; when it has come to its end it does not."""


class NoBrowser(RuntimeError):
    """There is no browser to measure with."""


async def watch_in_browser(server: Running, crowd: Crowd, steps: int) -> Browser:
    """A visit from a cold cache to a recorded run that plays. Raises NoBrowser."""
    try:
        from playwright.async_api import async_playwright
    except ImportError as error:
        raise NoBrowser("playwright") from error
    path = next(filter(None, map(shutil.which, NAMES)), None)
    async with async_playwright() as playwright:
        try:
            chromium = await playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        except Exception as error:
            raise NoBrowser("chromium") from error
        context = await chromium.new_context()
        context.set_default_timeout(PATIENCE)
        try:
            return await Watch(context, server, crowd).look(steps)
        finally:
            await chromium.close()


class Watch:
    """One visit of one browser."""

    def __init__(self, context: Any, server: Running, crowd: Crowd) -> None:
        self.context = context
        self.server = server
        self.crowd = crowd
        self.seen = Browser()

    async def look(self, steps: int) -> Browser:
        if self.server.code:
            root = self.server.page.removesuffix("/app")
            await self.context.request.get(f"{root}/?code={self.server.code}")
        page = await self.context.new_page()
        traffic = await Traffic.of(page)
        began = asyncio.get_running_loop().time()
        await page.goto(self.crowd.page)
        await ready(page)
        self.seen.ready = asyncio.get_running_loop().time() - began
        await page.wait_for_timeout(SETTLED)
        first = traffic.take()
        await page.reload()
        await ready(page)
        await page.wait_for_timeout(SETTLED)
        self.seen.cold = first.weight(self.crowd.page, second=traffic.take().total)
        await self._predict(page)
        await self._step(page, steps)
        await self._play(page)
        return self.seen

    async def _predict(self, page: Any) -> None:
        await page.locator("[data-command=read]").click()
        await at(page, "predict")
        await page.evaluate(FILL)
        await page.locator("#predict button[type=submit]").click()
        await at(page, "run")

    async def _step(self, page: Any, steps: int) -> None:
        async def alone() -> float:
            return float(await page.evaluate(PAINTED))

        async def beside() -> float:
            painted, _ = await asyncio.gather(alone(), self.crowd.all("step", Learner.run_step))
            return painted

        self.seen.beside = len(self.crowd.learners)
        self.seen.alone = await repeated(alone, steps)
        self.seen.together = await repeated(beside, steps)

    async def _play(self, page: Any) -> None:
        """Run to the end, go back, play at the highest speed; count what is sent meanwhile."""
        await page.locator("#run button.end").click()
        await at(page, "observe")
        last = await page.evaluate("window.ticklab.tick")
        await page.locator("#run button.step").focus()
        await page.locator("#run select").select_option("8")
        await page.locator("#run button.play").focus()
        await page.keyboard.press("Home")
        await until(page, "window.ticklab.tick === -1")
        await page.wait_for_timeout(SETTLED)
        await page.evaluate(SENT)
        await page.locator("#run button.play").click()
        await until(page, f"window.ticklab.tick >= {last - 1}")
        self.seen.sent, self.seen.played_ticks = int(await page.evaluate("window.playing.sent")), int(last)


async def until(page: Any, expression: str) -> None:
    """Wait until ``expression`` is true; Playwright's own wait needs ``eval``, which the page forbids."""
    async with asyncio.timeout(PATIENCE / 1000):
        while not await page.evaluate(expression):
            await asyncio.sleep(0.05)


async def repeated(measure: Callable[[], Awaitable[float]], times: int) -> Spread | None:
    return spread([await measure() for _ in range(times)])


async def ready(page: Any) -> None:
    await page.wait_for_selector("html[data-ready=true]")


async def at(page: Any, step: str) -> None:
    await page.wait_for_selector(f"html[data-step={step}]")


class Traffic:
    """What the network brought to a page, from the browser's own account of it."""

    def __init__(self) -> None:
        self.kind: dict[str, str] = {}
        self.host: dict[str, str] = {}
        self.bytes: dict[str, int] = {}

    @classmethod
    async def of(cls, page: Any) -> Traffic:
        """The traffic of ``page`` from now on."""
        traffic, session = cls(), await page.context.new_cdp_session(page)
        session.on("Network.requestWillBeSent", traffic._asked)
        session.on("Network.loadingFinished", traffic._came)
        session.on("Network.webSocketFrameReceived", traffic._frame)
        await session.send("Network.enable")
        return traffic

    def _asked(self, event: dict[str, Any]) -> None:
        parts = urlsplit(event["request"]["url"])
        if parts.scheme in ("http", "https", "ws", "wss"):
            kind = "page" if event.get("type") == "Document" else kind_of(event["request"]["url"])
            self.kind[event["requestId"]] = kind
            self.host[event["requestId"]] = parts.netloc

    def _came(self, event: dict[str, Any]) -> None:
        self.bytes[event["requestId"]] = int(event["encodedDataLength"])

    def _frame(self, event: dict[str, Any]) -> None:
        """A frame of the socket, unpacked: the browser does not say how it travelled."""
        self.kind["socket"] = "document (unpacked)"
        self.bytes["socket"] = self.bytes.get("socket", 0) + len(event["response"]["payloadData"])

    def take(self) -> Traffic:
        """What came so far; from here it counts anew."""
        taken = Traffic()
        taken.kind, taken.host, taken.bytes = self.kind, self.host, self.bytes
        self.kind, self.host, self.bytes = {}, {}, {}
        return taken

    @property
    def total(self) -> int:
        return sum(self.bytes.values())

    def weight(self, page: str, second: int) -> Weight:
        """As a weight; ``second`` are the bytes of the next visit."""
        kinds: dict[str, int] = {}
        for request, size in self.bytes.items():
            kind = self.kind.get(request, "other")
            kinds[kind] = kinds.get(kind, 0) + size
        outside = sorted({host for host in self.host.values() if host != urlsplit(page).netloc})
        return Weight(self.total, len(self.host), kinds, outside, second)
