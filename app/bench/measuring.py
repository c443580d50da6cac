"""One benchmark: the phases of a lesson, in order, each measured from outside the server."""

from __future__ import annotations

import asyncio
import os
import platform
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from app.bench.browser import watch_in_browser
from app.bench.crowd import Crowd, way_in
from app.bench.figures import Figures, spread
from app.bench.learner import Learner
from app.bench.options import Options
from app.bench.process import Running, cpu_seconds, memory_bytes
from app.bench.weight import page_weight

Result = TypeVar("Result")
REST = 2.0  # seconds until the server has told everybody everything
IDLE = 4.0  # seconds of a class that does nothing
NEW_ROUNDS = 2  # rounds of ticks that nobody has run before


def machine() -> dict[str, Any]:
    """Where it was measured, without a name."""
    load = round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "load": load,
    }


class Measuring:
    """Fills ``figures``; what went wrong stands there too."""

    def __init__(self, options: Options, server: Running) -> None:
        self.options = options
        self.server = server
        self.crowd = Crowd(server, options.exercise)
        self._before: int | None = None
        asked = {name: getattr(options, name) for name in ("learners", "seconds", "steps", "way", "exercise")}
        self.figures = Figures(machine=machine(), asked=asked, errors=self.crowd.errors)

    async def run(self) -> None:
        """All phases, or as many as the limit allows. Everybody has left when it returns."""
        try:
            async with asyncio.timeout(self.options.limit):
                await self._pioneer()
                await self._join()
                await self._predict()
                await self._step()
                if self.options.browser:
                    self.figures.browser = await watch_in_browser(self.server, self.crowd, self.options.steps)
                await self._finish()
        except TimeoutError:
            self.crowd.errors.append(f"broken off after {self.options.limit:g} s")
        finally:
            await self.crowd.leave()

    async def _cpu(self, work: Callable[[], Awaitable[Result]]) -> tuple[Result, float | None]:
        """What ``work`` gives, and the CPU seconds the server spent on it."""
        before = cpu_seconds(self.server.pid)
        found = await work()
        after = cpu_seconds(self.server.pid)
        return found, None if before is None or after is None else after - before

    # ---- the phases ----------------------------------------------------------------------------------

    async def _pioneer(self) -> None:
        """One learner alone, before the class: warms the server up and steps through ticks nobody has run."""
        self.figures.weight = await page_weight(self.crowd.page, await way_in(self.server))
        pioneer = Crowd(self.server, self.options.exercise)
        try:
            await pioneer.join(1, 0)
            await pioneer.all("read", Learner.read)
            await pioneer.all("lock", lambda one: one.lock(one.answers()))
            steps = await pioneer.one("step", Learner.run_step, self.options.steps)
            self.figures.new_tick = spread(steps)
        finally:
            self.crowd.errors += pioneer.errors
            await pioneer.leave()

    async def _join(self) -> None:
        count, seconds, figures = self.options.learners, self.options.seconds, self.figures
        before, began = memory_bytes(self.server.pid), asyncio.get_running_loop().time()
        waits, cpu = await self._cpu(lambda: self.crowd.join(count, seconds))
        figures.joined, figures.join = len(waits), spread(waits)
        figures.last_usable = asyncio.get_running_loop().time() - began
        figures.cpu_per_join = _each(cpu, len(waits))
        self._before = before
        figures.memory_per_join = self._grown()

    def _grown(self) -> float | None:
        """Bytes of memory the server has taken for each learner since before they came."""
        now = memory_bytes(self.server.pid)
        grown = None if now is None or self._before is None else now - self._before
        return _each(grown, self.figures.joined)

    async def _predict(self) -> None:
        await self.crowd.all("read", Learner.read)
        for number in ("0.4", "1.2"):
            self.figures.draft = spread(await self.crowd.all("draft", _drafts(number)))
        self.figures.lock = spread(await self.crowd.all("lock", lambda one: one.lock(one.answers("1.2"))))

    async def _step(self) -> None:
        """The first learner alone, then all at once: first through ticks that are recorded, then new ones."""
        figures, rounds = self.figures, self.options.steps + NEW_ROUNDS
        figures.step_alone = spread(await self.crowd.one("step", Learner.run_step, self.options.steps))
        before = self._traffic()
        waits, cpu = await self._cpu(lambda: self._rounds(rounds))
        after = self._traffic()
        figures.step_together, figures.cpu_per_step = spread(waits), _each(cpu, len(waits))
        if waits:
            figures.step_bytes, figures.step_bytes_unpacked, figures.step_bytes_up = (
                (now - then) // len(waits) for now, then in zip(after, before, strict=True)
            )

    async def _rounds(self, rounds: int) -> list[float]:
        return [wait for _ in range(rounds) for wait in await self.crowd.all("step", Learner.run_step)]

    def _traffic(self) -> tuple[int, int, int]:
        """Bytes that came to all learners, the same unpacked, bytes that they sent."""
        clients = [one.client for one in self.crowd.learners]
        return (
            sum(one.bytes_received for one in clients),
            sum(one.bytes_unpacked for one in clients),
            sum(one.bytes_sent for one in clients),
        )

    async def _finish(self) -> None:
        self.figures.end = spread(await self.crowd.all("end", Learner.run_to_end))
        self.figures.verdict = spread(await self.crowd.all("verdict", Learner.observe))
        self.figures.memory_per_learner = self._grown()
        await asyncio.sleep(REST)
        _, cpu = await self._cpu(lambda: asyncio.sleep(IDLE))
        self.figures.idle_cpu = _each(cpu, IDLE)


def _drafts(number: str) -> Callable[[Learner], Awaitable[float]]:
    return lambda one: one.draft(one.answers(number))


def _each(total: float | None, count: float) -> float | None:
    return total / count if total is not None and count else None
