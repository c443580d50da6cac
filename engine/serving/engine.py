"""The torch engine: scheduler plans, one real forward per tick, tokens delivered to their callers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import msgspec

from engine.errors import InputError
from engine.exact import start_of
from engine.history import History
from engine.kv.pages import Pool
from engine.ledger import checked_horizon, goes_on, in_time, step
from engine.model.transformer import Transformer
from engine.records import Outcome, Plan, Result, TickRecord
from engine.requests import LONGEST, Request, check_trace, count, prompt_bytes
from engine.scheduling.policies import Admission
from engine.scheduling.scheduler import Scheduler
from engine.service import Service, checked_service
from engine.serving.executor import FIRST_PAGES, TorchExecutor
from engine.serving.handle import Handle, OnToken
from engine.serving.loading import check_draft, load_draft, load_model
from engine.serving.speculation import Draft
from engine.serving.stops import Ending, stop_bytes
from engine.serving.turns import FairLock


class Stepper(Protocol):
    """Who steps an engine for its readers, as a FrontDoor: told when somebody comes or goes, it lets them
    ``wait``."""

    def tell(self) -> None: ...
    def wait(self, handle: Handle, given: int) -> None: ...
    async def wait_in_loop(self, handle: Handle, given: int) -> None: ...


class Engine:
    """A small serving engine over a trained model; decoding is greedy, a token is a byte.

    ``weights`` is fp32, int8 or int4; ``exact`` (the default, because then an answer does not depend
    on the neighbours) makes logits independent of who shares a tick, at some cost in speed.
    ``model`` replaces the trained model, for tests and benchmarks. Raises InputError for a setting that
    makes no sense, and for a pool that is larger than the machine's memory.

    ``kv_cache`` False computes every key and value again in every tick: same tokens, more work.
    ``draft`` (model, lookup, or an object that guesses: ``speculation.Draft``) is used when the service
    sets ``speculate``; it changes how many tokens a tick gives, not which.
    ``admission`` is an admission rule of one's own (``policies.Admission``) instead of the policy's.

    The default service is the toy of the lab: its 16 pages of 4 tokens hold 64 tokens, and a request
    that can never fit is refused (``handle.refusal`` says why).

    A tick happens when somebody calls ``step``, ``run`` or iterates over a handle, but not inside a
    callback: there RuntimeError is raised. Submitting and cancelling take effect in the next tick and
    may come from any thread and from inside a callback. When a forward raises, the requests that
    took part in it end as failed, the error goes to the caller, and the engine can go on.
    ``history`` holds every tick so far. Its seconds are those of ticks, as in the ledger; what a tick
    took on this machine is its record's ``work.ms``.
    """

    def __init__(
        self,
        service: Service | None = None,
        weights: str = "fp32",
        *,
        exact: bool = True,
        kv_cache: bool = True,
        draft: str | Draft = "model",
        model: Transformer | None = None,
        admission: Admission | None = None,
    ) -> None:
        self.history = History(checked_service(service))
        self.model = model if model is not None else load_model(weights)
        self.scheduler = Scheduler(
            self.history.service, context=self.model.config.context, admission=admission
        )
        pool = self.scheduler.pool
        try:
            self.executor = TorchExecutor(
                self.model,
                pool.total,
                pool.page_size,
                exact=exact,
                kv_cache=kv_cache,
                draft=self._draft(draft, kv_cache=kv_cache),
            )
        except MemoryError as error:
            pages, size = pool.total or FIRST_PAGES, pool.page_size
            raise InputError.of("no_memory", at="pages", pages=pages, size=size) from error
        self.closed = False
        self.lock = FairLock()  # one tick, one submit or one cancel at a time
        self.door: Stepper | None = None  # who steps in a thread of its own, and has the readers wait
        self._one_run = FairLock()  # a run closes the trace until it ends
        self._handles: dict[str, Handle] = {}  # live requests by key
        self._keys: dict[str, str] = {}  # their keys by id
        self._endings: dict[str, Ending] = {}
        self._pieces: dict[str, list[str]] = {}  # texts of this tick's tokens
        self._numbered = 0
        self._delivering = False
        self._error: BaseException | None = None  # to be raised when the tick is complete

    def _draft(self, draft: str | Draft, *, kv_cache: bool) -> Draft | None:
        check_draft(draft)
        if self.history.service.speculate is None:
            return None
        if not kv_cache:
            raise InputError.of("guess_without_cache", at="speculate")
        return load_draft(draft, self.scheduler.pool)

    @property
    def pool(self) -> Pool:
        """The KV pages: who owns which."""
        return self.scheduler.pool

    @property
    def live(self) -> tuple[str, ...]:
        """Keys of the requests that have not ended."""
        return tuple(self._handles)

    # ---- requests ----------------------------------------------------------------------

    def submit(
        self,
        prompt: str | Sequence[int],
        max_tokens: int,
        *,
        request_id: str | None = None,
        arrival: object = None,
        on_token: OnToken | None = None,
        stop: str | Sequence[str] = (),
        ignore_eos: bool = True,
        priority: int = 0,
    ) -> Handle:
        """Let a request arrive and return its handle. ``arrival`` is in seconds of ticks, None: with the
        next one; a moment that has passed counts as waited for since then.

        ``on_token(handle, token, text)`` is called after the tick that made the token; when it
        raises, the request ends as failed and the others go on. The output ends before
        ``max_tokens`` when a text of ``stop`` comes (left out of the text), or, with ``ignore_eos``
        False, the end-of-text token. A higher ``priority`` goes first where the service's orders ask
        for it. Raises InputError for an empty prompt or stop, ``max_tokens`` below 1, the id of a live
        request, or a closed engine.
        """
        ending = Ending(stop_bytes(stop), ignore_eos=ignore_eos)
        count(max_tokens, "max_tokens", most=LONGEST)
        if on_token is not None and not callable(on_token):
            raise InputError.of("not_callable", at="on_token", value=repr(on_token))
        tokens = prompt_bytes(prompt)
        if not tokens:
            raise InputError.of("empty_prompt", at="prompt")
        text = prompt if isinstance(prompt, str) else tokens
        with self.lock:
            now = start_of(self.scheduler.tick, self.history.service.tick)
            moment: Any = now if arrival is None else arrival
            name = self._new_id() if request_id is None else request_id
            request = Request(name, moment, len(tokens), max_tokens, text, priority)
            self._check_new(request)
            return self._enter(request, ending, on_token)

    def _new_id(self) -> str:
        """The next of request-1, request-2 … that nobody has chosen for a live request."""
        while True:
            self._numbered += 1
            name = f"request-{self._numbered}"
            if not self._is_live(name):
                return name

    def _is_live(self, name: str) -> bool:
        return name in self._handles or name in self._keys

    def _check_new(self, request: Request) -> None:
        if self.closed:
            raise InputError.of("engine_closed")
        if self._is_live(request.id):
            raise InputError.of("id_is_live", id=repr(request.id))
        if request.prompt is None:
            raise InputError.of("length_only", at=request.where)

    def _enter(self, request: Request, ending: Ending, on_token: OnToken | None = None) -> Handle:
        assert request.prompt is not None
        key = self.history.new_key(request.id)
        self.scheduler.submit(request, key)
        self.history.requests[key] = request
        self.executor.begin(key, prompt_bytes(request.prompt))
        self._endings[key] = ending
        self._handles[key] = Handle(self, key, on_token)
        self._keys[request.id] = key
        self._tell()
        return self._handles[key]

    def cancel(self, request_id: str) -> bool:
        """End a live request (by its id, or by its key such as id#2). False if there is none."""
        with self.lock:
            handle = self._handles.get(self._keys.get(request_id, request_id))
            return False if handle is None else self.cancel_handle(handle)

    def cancel_handle(self, handle: Handle) -> bool:
        """End the very request of ``handle``, whoever uses its id by now. False if it has ended, also when
        the tokens of its last tick are just being delivered.
        """
        with self.lock:
            if not self.scheduler.live(handle.id):
                return False
            self._end_early(handle, "cancelled")
            return True

    def _end_early(self, handle: Handle, reason: str) -> None:
        self.scheduler.cancel(handle.id, reason)
        self._close_handle(handle, reason, reason)

    def _close_handle(self, handle: Handle, status: str, reason: str | None) -> None:
        handle.end(status, reason)
        self.executor.forget(handle.id)
        del self._handles[handle.id], self._endings[handle.id]
        del self._keys[self.history.requests[handle.id].id]
        self._tell()

    def _tell(self) -> None:
        if self.door is not None:
            self.door.tell()

    # ---- ticks -------------------------------------------------------------------------

    def step(self) -> TickRecord:
        """One tick: plan, forward, account, deliver. On an idle engine nothing happens in it.

        A tick behind the horizon of an earlier ``run`` ends that horizon: metrics see what goes on.
        """
        with self.lock:
            self._refuse_in_a_callback()
            if not in_time(self.scheduler, self.history.horizon):
                self.history.horizon = None
            record = step(self.scheduler, self)
            self.history.records.append(record)
            self._deliver(record)
            return record

    def advance(self, handle: Handle, given: int) -> None:
        """Bring ``handle`` forward for a reader who has ``given`` of its tokens: by one tick, unless
        somebody else has done so meanwhile.
        """
        if self.door is not None:
            self.door.wait(handle, given)
            return
        with self.lock:
            if not handle.ended and len(handle.tokens) == given:
                self.step()

    async def advance_in_loop(self, handle: Handle, given: int) -> None:
        """The same for a reader in an event loop, which goes on meanwhile."""
        if self.door is not None:
            await self.door.wait_in_loop(handle, given)
        else:
            await asyncio.to_thread(self.advance, handle, given)

    def run(self, requests: Iterable[Request] | None = None, horizon: object = None) -> History:
        """Serve ``requests`` as a closed trace, and whatever was submitted before, to the end.

        ``horizon`` (s): stop before the first tick that starts at or after it. Returns ``history``. Times
        are those of the engine, whose clock goes on: what arrives before the next tick has waited
        since then, so a trace that starts at 0 wants a new engine.
        Other threads may submit and cancel between its ticks; a second run begins when this one has
        ended. Raises InputError for malformed input and Stalled when the run can never go on.
        """
        with self.lock:
            self._refuse_in_a_callback()
        with self._one_run:
            self._begin_run(requests, horizon)
            try:
                while self._step_of_a_run():
                    pass
            finally:
                self.scheduler.closed = self.closed
        return self.history

    def _begin_run(self, requests: Iterable[Request] | None, horizon: object) -> None:
        """Enter a closed trace. Raises InputError, having entered nothing, for a malformed one."""
        with self.lock:
            limit = checked_horizon(horizon)
            if requests is not None:
                self._enter_trace(check_trace(requests))
            self.history.horizon = limit
            self.scheduler.closed = True

    def _step_of_a_run(self) -> bool:
        """One tick, False when none is left: nothing is live, or it would start at the horizon or later."""
        with self.lock:
            if not goes_on(self.scheduler, self.history.horizon):
                return False
            self.step()
            return True

    def _enter_trace(self, trace: list[Request]) -> None:
        if not self.history.requests:
            self.scheduler.size_for(trace)
        for request in trace:
            self._check_new(request)
        for request in trace:
            self._enter(request, Ending())

    def close(self) -> None:
        """Take no more requests; those that are live can still be served."""
        self.closed = True
        self.scheduler.close()

    # ---- executing and delivering --------------------------------------------------------

    def execute(self, plan: Plan) -> Outcome:
        """The executor's outcome, ended where a stop or the end-of-text token says so.

        What the executor raises is kept until the tick is complete; everybody it worked for has failed.
        """
        self._pieces = {}
        try:
            outcome = self.executor.execute(plan)
        except BaseException as error:
            self._error = error
            return Outcome({key: Result((), "failed") for key in plan.working})
        results = {key: self._until_the_end(key, result) for key, result in outcome.results.items()}
        return Outcome(results, outcome.work)

    def _until_the_end(self, key: str, result: Result) -> Result:
        """``result`` cut behind the token that ends the output; keeps the text of each token."""
        ending, kept = self._endings[key], []
        pieces = self._pieces[key] = []
        for token in result.tokens:
            assert token is not None
            piece, ends = ending.push(token)
            kept.append(token)
            pieces.append(piece)
            if ends:
                return msgspec.structs.replace(result, tokens=tuple(kept), finish="stop")
        return result

    def _deliver(self, record: TickRecord) -> None:
        """Hand out the tick's tokens and endings, then raise what must be raised."""
        self._delivering = True
        try:
            self._tell_places(record)
            self._hand_out(record)
        finally:
            self._delivering = False
        error, self._error = self._error, None
        if error is not None:
            raise error

    def _refuse_in_a_callback(self) -> None:
        if self._delivering:
            raise RuntimeError("a tick is being delivered: a callback may submit and cancel, not step")

    def _tell_places(self, record: TickRecord) -> None:
        """Who has a place and who lost it, who was refused, whose work has failed."""
        for key in record.admitted:
            self._handles[key].status = "active"
        for key in record.preempted:
            self._handles[key].status = "waiting"
        whys = dict(record.blocked)
        for key in record.refused:
            self._handles[key].refusal = whys[key]
            self._close_handle(self._handles[key], "refused", None)
        for key, reason in record.finished:
            if reason == "failed" and key in self._handles:
                self._handles[key].error = self._error
                self._close_handle(self._handles[key], "failed", "failed")

    def _hand_out(self, record: TickRecord) -> None:
        """The tick's tokens, each with a callback that may submit, cancel, or raise."""
        finished = dict(record.finished)
        last = {key: index for key, index, _ in record.emitted}
        for key, index, token in record.emitted:
            handle = self._handles.get(key)
            if handle is not None and token is not None:  # else a callback of this tick cancelled it
                self._hand_over(handle, token, finished.get(key) if index == last[key] else None)

    def _hand_over(self, handle: Handle, token: int, ends: str | None) -> None:
        """Deliver one token; ``ends`` is the finish reason when it is the last one."""
        piece = self._pieces[handle.id].pop(0)
        if ends is not None:
            piece += self._endings[handle.id].flush()
        try:
            handle.deliver(token, piece)
        except BaseException as error:
            handle.error = error
            if not isinstance(error, Exception):  # such as Ctrl-C: the others get their tokens first
                self._error = error
            if ends is None and not handle.ended:
                self._end_early(handle, "failed")
        if ends is not None and not handle.ended:
            self._close_handle(handle, "finished", ends)
