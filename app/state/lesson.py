"""One learner at one exercise: read, predict, run, observe, verdict, again.

Every transition is decided here, from what the store holds, never from what a browser says.
"""

from __future__ import annotations

import asyncio
import secrets
from contextlib import suppress
from functools import lru_cache
from typing import Any

import param

from app.server import Server
from app.state.errors import NotAllowed
from app.store import STEPS, Draft, Place, Prediction, Progress, StoreError
from app.worker import RunSpec
from engine import History
from engine.words import LANGUAGES
from puzzles import Exercise, load, parse, runs, solving
from puzzles.parsing import Problem

WHY_LENGTH = 500  # characters
LARGEST_SEED = 2**31 - 1


@lru_cache(maxsize=256)
def exercise_of(name: str, seed: int | None) -> Exercise:
    """The exercise, or its variant of that seed: made once for all who ask."""
    return load(name).variant(seed)


class Lesson(param.Parameterized):
    """The state of one learner's page. Awaiting a transition changes the params and the store together.

    Transitions raise NotAllowed when the lesson is not that far, WorkerError when a run cannot be had,
    and StoreError when the database keeps nothing; then nothing has changed, and they may be repeated.
    """

    learner = param.String(constant=True, doc="The browser's own name.")

    language: Any = param.Selector(
        default="en", objects=list(LANGUAGES), constant=True, doc="What the page speaks."
    )

    exercise_name = param.String(default="main", constant=True, doc="Which exercise, as ``load`` knows it.")

    attempt = param.Integer(
        default=1, bounds=(1, None), doc="Which try at it; the first is the exercise as it stands."
    )

    seed = param.Integer(default=None, allow_None=True, doc="Of the attempt's variant; None: as it stands.")

    step: Any = param.Selector(default="read", objects=list(STEPS), doc="Where the learner is.")

    draft = param.Dict(default={}, doc="Typed and not locked: texts by field, ``confidence`` and ``why``.")

    prediction = param.ClassSelector(class_=Prediction, default=None, allow_None=True, doc="What was locked.")

    known = param.Integer(default=0, bounds=(0, None), doc="Ticks that were run for this learner.")

    tick = param.Integer(default=-1, bounds=(-1, None), doc="The last tick shown, -1 before the first.")

    last = param.Integer(
        default=None, allow_None=True, doc="The final tick of all runs, None until it is known."
    )

    observed = param.Dict(
        default=None, allow_None=True, doc="What was read off the run: ``text`` and ``value``."
    )

    revealed = param.Boolean(default=False, doc="Whether the verdict has been shown.")

    def __init__(self, *, server: Server, **params: Any) -> None:
        super().__init__(**params)  # type: ignore[no-untyped-call]
        self._server = server
        self._turn = asyncio.Lock()
        self._restore()

    # ---- what is asked ---------------------------------------------------------------------

    @property
    def place(self) -> Place:
        return Place(self.learner, self.exercise_name, self.attempt)

    @property
    def exercise(self) -> Exercise:
        """The exercise of this attempt."""
        return exercise_of(self.exercise_name, self.seed)

    @property
    def specs(self) -> dict[str, RunSpec]:
        """What has to be run, by the name the exercise gives it."""
        return {run.name: RunSpec(run.service, run.requests, run.weights) for run in runs(self.exercise)}

    @property
    def locked(self) -> bool:
        return self.prediction is not None

    @property
    def done(self) -> bool:
        """Whether every tick of every run is known to this learner."""
        return self.last is not None

    # ---- coming back -----------------------------------------------------------------------

    def _restore(self) -> None:
        """Take up where the store says this learner was; begin the first attempt for a new one."""
        store, read = self._server.store, self._server.read
        attempt = read(store.latest, self.learner, self.exercise_name)
        if attempt is None:
            return
        place = attempt.place
        progress, prediction = read(store.progress, place), read(store.prediction, place)
        self.param.update(
            attempt=place.attempt,
            seed=attempt.seed,
            draft=_texts(read(store.draft, place)),
            prediction=prediction,
            step=_not_before_run(progress.step) if prediction else progress.step,
            known=progress.known,
            tick=-1 if progress.tick is None else progress.tick,
            last=None,
            observed=progress.observed,
            revealed=progress.revealed,
        )

    async def catch_up(self) -> dict[str, History]:
        """The runs as far as this learner had them; after a restart of the server they are run again."""
        if not self.locked or not self.known:
            return {}
        return await self._have(self.known)

    # ---- predict ---------------------------------------------------------------------------

    async def read(self) -> None:
        """The rules have been read."""
        if self.step == "read":
            await self._begin()
            await self._save(step="predict")

    async def save_draft(self, draft: dict[str, str]) -> None:
        """Keep what is typed; nothing is kept once the prediction is locked."""
        if self.locked:
            return
        self.draft = dict(draft)
        await self._begin()
        await self._stored(self._server.store.save_draft, self.place, _draft(draft))

    async def lock(self, draft: dict[str, str]) -> dict[str, Problem]:
        """Lock ``draft`` for good, unless it has problems, which are returned by field.

        What another tab has locked before is taken over; nothing is overwritten.
        """
        async with self._turn:
            if await self._find_prediction():
                return {}
            answers, problems = parse(self.exercise, _answers(draft))
            if problems:
                return problems
            await self._begin()
            kept = _draft(draft)
            self.prediction = await self._stored(
                self._server.store.lock, self.place, answers, confidence=kept.confidence, why=kept.why
            )
            self.step = "run"
            with suppress(StoreError):  # the lock counts; how far one is follows from it
                await self._save()
            return {}

    async def _find_prediction(self) -> Prediction | None:
        """The stored prediction; only what is in the store counts as locked. Another tab may have made it."""
        if self.prediction is None:
            found = await self._stored(self._server.store.prediction, self.place)
            if found is not None:
                await self._save(step=_not_before_run(self.step))
                self.prediction = found
        return self.prediction

    async def _begin(self) -> None:
        """Have a row for this attempt; the seed that is there already counts."""
        attempt = await self._stored(self._server.store.begin, self.place, self.seed)
        self.seed = attempt.seed

    # ---- run -------------------------------------------------------------------------------

    async def run_step(self) -> dict[str, History]:
        """One more tick of every run; the runs so far."""
        return await self._run(self.known + 1)

    async def run_to_end(self) -> dict[str, History]:
        """Every tick of every run."""
        return await self._run(None)

    async def _run(self, ticks: int | None) -> dict[str, History]:
        async with self._turn:
            await self._demand_lock()
            before = {"known": self.known, "last": self.last}
            histories = await self._have(ticks)
            try:
                # Whoever asked for a tick looks at it: one write keeps both.
                await self._save(step="observe" if self.done else "run", tick=self.known - 1)
            except StoreError:
                self.param.update(**before)
                raise
            return histories

    async def _demand_lock(self) -> None:
        if not await self._find_prediction():
            raise NotAllowed("lock_first")

    async def _have(self, ticks: int | None) -> dict[str, History]:
        """The first ``ticks`` ticks of every run (None: all), run where nobody has run them yet."""
        names, specs = list(self.specs), list(self.specs.values())
        recordings = await self._server.runs.all_first(specs, ticks)
        whole = self._seen({name: one.history() for name, one in zip(names, recordings, strict=True)})
        longest = max(len(history.records) for history in whole.values())
        known = longest if ticks is None else min(ticks, longest)
        ended = all(
            len(history.records) <= known and (recording.done or _closed(history))
            for history, recording in zip(whole.values(), recordings, strict=True)
        )
        self.param.update(known=known, last=known - 1 if ended else None)
        return self._seen({name: one.history(known) for name, one in zip(names, recordings, strict=True)})

    def _seen(self, histories: dict[str, History]) -> dict[str, History]:
        """The runs as far as the windows of this exercise let one see."""
        return solving.observed(self.exercise, histories)

    async def compare_formats(self) -> dict[str, Any]:
        """fp32, int8 and int4 side by side on the prompts of this attempt."""
        await self._demand_lock()
        return await self._server.runs.comparison(self.exercise.requests)

    async def move(self, tick: int) -> None:
        """The learner looks at ``tick``: kept, so that a reload comes back to it."""
        if self.locked and tick != self.tick:
            self.tick = max(-1, min(tick, self.known - 1))
            await self._save()

    # ---- observe, verdict, again -------------------------------------------------------------

    async def observe(self, text: str) -> Problem | None:
        """Keep the number read off the timeline, or return what is wrong with it."""
        async with self._turn:
            await self._demand_lock()
            if not self.done:
                raise NotAllowed("run_first")
            field = self.exercise.observe or ""
            answers, problems = parse(self.exercise, {field: text}, required=False)
            if field not in answers:
                return problems.get(field) or Problem("problem.missing")
            await self._save(
                step="verdict", observed=self.observed or {"text": text, "value": answers[field]}
            )
            return None

    async def reveal(self) -> dict[str, History]:
        """The finished runs, for the verdict. Only after the run and the observation."""
        async with self._turn:
            await self._demand_lock()
            if self.observed is None:
                raise NotAllowed("observe_first")
            histories = await self._have(None)
            await self._save(revealed=True)
            return histories

    async def again(self) -> None:
        """A new attempt, on another trace of the same idea."""
        async with self._turn:
            await self._demand_lock()
            if not self.revealed:
                raise NotAllowed("verdict_first")
            place = Place(self.learner, self.exercise_name, self.attempt + 1)
            seed = secrets.randbelow(LARGEST_SEED) + 1
            await self._stored(self._server.store.begin, place, seed)
            await self._save(step="again")
            self._restore()

    # ---- the store ---------------------------------------------------------------------------

    async def _save(self, **changes: Any) -> None:
        """Keep where the learner is, with ``changes``, and only then be there; if another tab is farther,
        go there."""
        wanted = {"step": self.step, "observed": self.observed, "revealed": self.revealed} | changes
        progress = Progress(tick=None if self.tick < 0 else self.tick, known=self.known, **wanted)
        farther = await self._stored(self._server.store.save_progress, self.place, progress)
        self.param.update(step=farther.step, observed=farther.observed, revealed=farther.revealed)

    async def _stored(self, call: Any, *args: Any, **names: Any) -> Any:
        return await self._server.stored(call, *args, **names)


def _closed(history: History) -> bool:
    """Whether the window of a run has come to its end."""
    horizon = history.horizon
    return horizon is not None and len(history.records) * history.service.tick >= horizon


def _not_before_run(step: str) -> str:
    """A server that was killed after a lock may not have noted the step that follows from it."""
    return "run" if step in ("read", "predict") else step


def _answers(draft: dict[str, str]) -> dict[str, str]:
    return {key: text for key, text in draft.items() if key not in ("confidence", "why")}


def _draft(texts: dict[str, str]) -> Draft:
    confidence = texts.get("confidence", "")
    level = int(confidence) if confidence in ("1", "2", "3", "4") else None
    return Draft(_answers(texts), level, texts.get("why", "")[:WHY_LENGTH])


def _texts(draft: Draft) -> dict[str, str]:
    texts = dict(draft.answers)
    if draft.confidence is not None:
        texts["confidence"] = str(draft.confidence)
    if draft.why:
        texts["why"] = draft.why
    return texts
