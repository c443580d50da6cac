"""One visitor at free play: what is being run, how far it is, what came of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import param

from app.play.sheet import Sheet, text_of
from app.play.spec import Figures, Going, Job, Made, News, Nothing, Prepared, Seen, Switches
from app.server import Server
from app.store import Shares
from engine import TickRecord
from engine.words import LANGUAGES

STATES = ("idle", "running", "done", "stopped", "nothing")
CHUNK = 16  # ticks of the torch engine between two looks at whether to go on


class Play(param.Parameterized):
    """The state of one page. One thing is done at a time: what is asked for last counts.

    The calls raise WorkerError (with the sentence of an InputError where the sheet is wrong); then
    nothing of the run is shown.
    """

    language: Any = param.Selector(
        default="en", objects=list(LANGUAGES), constant=True, doc="What the page speaks."
    )

    state: Any = param.Selector(default="idle", objects=list(STATES), doc="What is going on.")

    run = param.String(default="", doc="The run that is being made.")

    tick = param.Integer(default=0, bounds=(0, None), doc="How far it is.")

    figures = param.ClassSelector(class_=Figures, default=None, allow_None=True, doc="What came of the runs.")

    switches = param.Dict(default={}, doc="``sentences`` by setting, and the ``dead``; empty until known.")

    def __init__(self, *, server: Server, **params: Any) -> None:
        super().__init__(**params)  # type: ignore[no-untyped-call]
        self._server = server
        self._turn = 0
        self._ran: Job | None = None

    # ---- running --------------------------------------------------------------------------------

    async def play(self, sheet: Sheet) -> None:
        """Run ``sheet`` and show what comes of it."""
        turn = self._begin()
        try:
            job = Job("play", sheet, self.language, await self._recorded(sheet, turn))
            async for news in self._mine(job, turn):
                self._take(news, job)
        except BaseException:
            if turn == self._turn:
                self.state = "idle"
            raise
        if turn == self._turn and self.state == "running":
            self.state = "done"

    def _begin(self) -> int:
        """A new run: whatever went on before is of no interest any more."""
        self._turn += 1
        self._ran = None
        self.param.update(state="running", run="", tick=0, figures=None, switches={})
        return self._turn

    def stop(self) -> None:
        """Let the run be, now."""
        if self.state == "running":
            self._turn += 1
            self.state = "stopped" if self.figures is None else "done"

    async def _mine(self, job: Job, turn: int) -> AsyncIterator[News]:
        """The news of ``job`` for as long as it is what is asked for."""
        news = self._server.bench.news(job)
        try:
            async for one in news:
                if turn != self._turn:
                    return
                yield one
        finally:
            await news.aclose()

    def _take(self, news: News, job: Job) -> None:
        if isinstance(news, Going):
            self.param.update(run=news.run, tick=news.tick)
        elif isinstance(news, Figures):
            self._ran = job
            self.figures = news
        elif isinstance(news, Switches):
            self.switches = {"sentences": news.sentences, "dead": list(news.dead)}
        elif isinstance(news, Nothing):
            self.state = "nothing"

    # ---- the torch engine -------------------------------------------------------------------------

    async def _recorded(self, sheet: Sheet, turn: int) -> dict[str, tuple[TickRecord, ...]]:
        """What the torch engine has recorded of every run; nothing where the ledger is asked."""
        found: dict[str, tuple[TickRecord, ...]] = {}
        if not sheet.engine:
            return found
        async for news in self._mine(Job("prepare", sheet, self.language), turn):
            if isinstance(news, Prepared):
                for name, (title, spec) in news.runs.items():
                    found[name] = await self._record(title, spec, news.ticks, turn)
        return found

    async def _record(self, title: str, spec: Any, ticks: int, turn: int) -> tuple[TickRecord, ...]:
        records: list[TickRecord] = []
        done = False
        while turn == self._turn and not done and len(records) < ticks:
            upto = min(len(records) + CHUNK, ticks) - 1
            answer = await self._server.worker.advance(spec, len(records), upto)
            records.extend(answer.records)
            done = answer.done
            if turn == self._turn:
                self.param.update(run=title, tick=len(records))
        return tuple(records)

    # ---- beside the run -----------------------------------------------------------------------------

    async def look(self, sheet: Sheet) -> str:
        """HTML of what the trace holds; empty where it holds nothing."""
        async for news in self._server.bench.news(Job("look", sheet, self.language)):
            if isinstance(news, Seen):
                return news.html
        return ""

    async def file(self, kind: Any) -> Made | None:
        """What was run last, as a file of that kind; None when nothing was run."""
        ran = self._ran
        if ran is None:
            return None
        async for news in self._server.bench.news(Job(kind, ran.sheet, self.language, ran.recorded)):
            if isinstance(news, Made):
                return news
        return None

    async def share(self, sheet: Sheet) -> str:
        """The code of a short link to ``sheet``. Raises ShareRefused."""
        shares = Shares(self._server.store)
        return await self._server.stored(shares.keep, text_of(sheet))
