"""One learner at one exercise: read, predict, run, observe, verdict, again.

Every transition is decided here, from what the store holds, never from what a browser says. In a class
that includes what the teacher decided: it is looked up anew with every transition.
"""

from __future__ import annotations

import asyncio
import secrets
from contextlib import suppress
from typing import Any

import param
from param.parameterized import no_instance_params

from app.server import Server
from app.state.directions import ENDED, Direction, Rules, direction_of, rules_of, shown_step, ticks_of
from app.state.drafts import answers_of, draft_of, locked_texts, texts_of
from app.state.errors import NotAllowed
from app.state.recorded import exercise_of, first_ticks, specs_of
from app.store import STEPS, Draft, Place, Prediction, Progress, StoreError
from app.worker import RunSpec
from engine import History
from engine.words import LANGUAGES
from puzzles import Exercise, parse
from puzzles.parsing import Problem

LARGEST_SEED = 2**31 - 1


@no_instance_params
class Lesson(param.Parameterized):
    """The state of one learner's page. Awaiting a transition changes the params and the store together.

    Transitions raise NotAllowed when the lesson is not that far, and WorkerError when a run cannot be
    had; then nothing has changed.
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

    prediction = param.ClassSelector(
        class_=Prediction, default=None, allow_None=True, doc="What was locked last, and is judged."
    )

    earlier = param.ClassSelector(
        class_=Prediction, default=None, allow_None=True, doc="The first vote, once a second is locked."
    )

    class_id = param.Integer(default=None, allow_None=True, constant=True, doc="Of the class, None: alone.")

    direction: Any = param.ClassSelector(
        class_=Direction, default=Direction(), doc="Where the teacher has the class, as it was seen last."
    )

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
        return specs_of(self.exercise_name, self.seed)

    @property
    def rules(self) -> Rules:
        """What is allowed as the direction was seen last."""
        return rules_of(self.direction, self.attempt)

    @property
    def limit(self) -> int | None:
        """How many ticks may be seen, None for all."""
        return ticks_of(self.direction, self.attempt)

    @property
    def shown_step(self) -> str:
        """The step the page shows: no farther than the class."""
        return shown_step(self.step, self.rules)

    @property
    def locked(self) -> bool:
        """Whether there is nothing to lock any more: what is open for votes, or anything, is locked."""
        return self.prediction is not None and self.prediction.vote >= (self.rules.vote or 1)

    @property
    def running(self) -> bool:
        """Whether the run is open to this learner."""
        return self.prediction is not None and self.rules.run

    @property
    def done(self) -> bool:
        """Whether every tick of every run is known to this learner."""
        return self.last is not None

    # ---- coming back -----------------------------------------------------------------------

    def _restore(self) -> None:
        """Take up where the store says this learner was; begin the first attempt for a new one."""
        store, read = self._server.store, self._server.read
        if self.class_id is not None:
            self.direction = read(self._newest)
        attempt = read(store.latest, self.learner, self.exercise_name)
        if attempt is None:
            return
        self.param.update(attempt=attempt.place.attempt, seed=attempt.seed)
        progress = read(store.progress, self.place)
        self._take(read(store.votes, self.place))
        self.param.update(
            draft=self._draft_of(read(store.draft, self.place)),
            step=_not_before_run(progress.step) if self.prediction else progress.step,
            known=progress.known if self.limit is None else min(progress.known, self.limit),
            tick=-1 if progress.tick is None else progress.tick,
            last=None,
            observed=progress.observed,
            revealed=progress.revealed,
        )

    async def catch_up(self) -> dict[str, History]:
        """The runs as far as this learner had them; after a restart of the server they are run again."""
        if not self.running or not self.known:
            return {}
        return await self._have(self.known)

    def _take(self, votes: list[Prediction]) -> None:
        self.param.update(
            prediction=votes[-1] if votes else None, earlier=votes[0] if len(votes) > 1 else None
        )

    def _draft_of(self, stored: Draft) -> dict[str, str]:
        """The texts to go on with: for a second vote the first one, until something else is typed."""
        first = self.prediction
        if self.rules.vote == 2 and stored.vote == 1 and first is not None:
            return locked_texts(first)
        return texts_of(stored)

    # ---- the teacher -----------------------------------------------------------------------

    def _newest(self) -> Direction:
        assert self.class_id is not None
        decided = self._server.store.classes.decided(self.class_id, exercise=self.exercise_name)
        return direction_of(decided.of(self.exercise_name), ended=decided.ended)

    async def _look(self) -> Rules:
        """The rules as they are now; a page may not have heard of it yet."""
        if self.class_id is not None:
            self.direction = await self._stored(self._newest)
        return self.rules

    async def follow(self) -> None:
        """Take over what the teacher has decided, and what is stored for the vote that is open then."""
        async with self._turn:
            await self._look()
            await self._find_prediction()
            if not self.locked:
                self.draft = self._draft_of(await self._stored(self._server.store.draft, self.place))

    async def run_along(self) -> dict[str, History]:
        """In lock step: the runs up to the tick of the class, which the learner looks at then."""
        await self._look()
        if self.limit is None:
            return {}
        histories = await self._run(max(self.limit, self.known))
        await self.move(self.limit - 1)
        return histories

    # ---- predict ---------------------------------------------------------------------------

    async def read(self) -> None:
        """The rules have been read."""
        if self.step == "read":
            await self._begin()
            await self._save(step="predict")

    async def save_draft(self, draft: dict[str, str]) -> None:
        """Keep what is typed; nothing is kept once the prediction is locked."""
        if self.locked or not self._goes_on:
            return
        self.draft = dict(draft)
        await self._begin()
        await self._stored(self._server.store.save_draft, self.place, draft_of(draft, self.rules.vote or 1))

    async def lock(self, draft: dict[str, str]) -> dict[str, Problem]:
        """Lock ``draft`` for good, unless it has problems, which are returned by field.

        What another tab has locked before is taken over; nothing is overwritten.
        """
        async with self._turn:
            vote = (await self._look()).vote
            await self._find_prediction()
            if self.locked:
                return {}
            if vote is None:
                raise NotAllowed("lock_held")
            answers, problems = parse(self.exercise, answers_of(draft))
            if problems:
                return problems
            await self._begin()
            kept = draft_of(draft)
            await self._stored(
                self._server.store.lock,
                self.place,
                answers,
                confidence=kept.confidence,
                why=kept.why,
                vote=vote,
            )
            self._take(await self._stored(self._server.store.votes, self.place))
            self.step = "run"
            with suppress(StoreError):  # the lock counts; how far one is follows from it
                await self._save()
            return {}

    async def _find_prediction(self) -> Prediction | None:
        """The stored prediction; only what is in the store counts as locked. Another tab may have made it."""
        if not self.locked:
            votes = await self._stored(self._server.store.votes, self.place)
            if votes:
                await self._save(step=_not_before_run(self.step))
            self._take(votes)
        return self.prediction

    async def _begin(self) -> None:
        """Have a row for this attempt; the seed that is there already counts."""
        if not self._goes_on:
            return
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
            await self._demand("run")
            if self.limit is not None and (ticks is None or ticks > max(self.limit, self.known)):
                raise NotAllowed("run_limit")
            before = {"known": self.known, "last": self.last}
            histories = await self._have(ticks)
            try:
                # Whoever asked for a tick looks at it: one write keeps both.
                await self._save(step="observe" if self.done else "run", tick=self.known - 1)
            except StoreError:
                self.param.update(**before)
                raise
            return histories

    async def _demand(self, what: str) -> None:
        """Refuse unless something is locked and ``what`` (run, verdict, again) is allowed now."""
        rules = await self._look()
        if not await self._find_prediction():
            raise NotAllowed("lock_first")
        if not getattr(rules, what):
            raise NotAllowed(f"{what}_held")

    async def _have(self, ticks: int | None) -> dict[str, History]:
        """The first ``ticks`` ticks of every run (None: all), run where nobody has run them yet."""
        seen = await first_ticks(self._server.runs, self.exercise, self.specs, ticks)
        self.param.update(known=seen.ticks, last=seen.ticks - 1 if seen.ended else None)
        return seen.histories

    async def compare_formats(self) -> dict[str, Any]:
        """fp32, int8 and int4 side by side on the prompts of this attempt."""
        await self._demand("run")
        if self.limit is not None:
            raise NotAllowed("run_limit")
        return await self._server.runs.comparison(self.exercise.requests)

    async def move(self, tick: int) -> None:
        """The learner looks at ``tick``: kept, so that a reload comes back to it."""
        if self.running and self._goes_on and tick != self.tick:
            self.tick = max(-1, min(tick, self.known - 1))
            await self._save()

    # ---- observe, verdict, again -------------------------------------------------------------

    async def observe(self, text: str) -> Problem | None:
        """Keep the number read off the timeline, or return what is wrong with it."""
        async with self._turn:
            await self._demand("run")
            if not self.done:
                raise NotAllowed("run_first")
            field = self.exercise.observe or ""
            answers, problems = parse(self.exercise, {field: text}, required=False)
            if field not in answers:
                return problems.get(field) or Problem("problem.missing")
            await self._save(
                step="verdict" if self.rules.verdict else "observe",
                observed=self.observed or {"text": text, "value": answers[field]},
            )
            return None

    async def reveal(self) -> dict[str, History]:
        """The finished runs, for the verdict. Only after the run and the observation, but for a class that
        is shown it by its teacher."""
        async with self._turn:
            await self._demand("verdict")
            if self.observed is None and not self.rules.unobserved:
                raise NotAllowed("observe_first")
            histories = await self._have(None)
            await self._save(revealed=True, step=max(self.step, "verdict", key=STEPS.index))
            return histories

    async def again(self) -> None:
        """A new attempt, on another trace of the same idea."""
        async with self._turn:
            await self._demand("again")
            if not self.revealed:
                raise NotAllowed("verdict_first")
            place = Place(self.learner, self.exercise_name, self.attempt + 1)
            seed = secrets.randbelow(LARGEST_SEED) + 1
            await self._stored(self._server.store.begin, place, seed)
            await self._save(step="again")
            self._restore()

    # ---- the store ---------------------------------------------------------------------------

    @property
    def _goes_on(self) -> bool:
        """Whether anything may be written: what is known of a class that has ended may be deleted."""
        return bool(self.direction.phase != ENDED)

    async def _save(self, **changes: Any) -> None:
        """Keep where the learner is, with ``changes``, and only then be there; if another tab is farther,
        go there."""
        if not self._goes_on:
            self.param.update(**changes)
            return
        tick = changes.pop("tick", self.tick)
        wanted = {"step": self.step, "observed": self.observed, "revealed": self.revealed} | changes
        progress = Progress(tick=None if tick < 0 else tick, known=self.known, **wanted)
        farther = await self._stored(self._server.store.save_progress, self.place, progress)
        self.param.update(step=farther.step, observed=farther.observed, revealed=farther.revealed, tick=tick)

    async def _stored(self, call: Any, *args: Any, **names: Any) -> Any:
        return await self._server.stored(call, *args, **names)


def _not_before_run(step: str) -> str:
    """A server that was killed after a lock may not have noted the step that follows from it."""
    return "run" if step in ("read", "predict") else step
