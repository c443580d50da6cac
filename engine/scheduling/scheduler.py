"""The scheduler: SEMANTICS §2 and nothing else. It knows no tensors and not who executes.

plan = scheduler.plan()
outcome = executor.execute(plan)
record = scheduler.apply(plan, outcome)
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any

from engine.errors import InputError, Stalled
from engine.exact import first_tick
from engine.kv.pages import PageEvent
from engine.kv.pools import longest, make_pool
from engine.records import Decode, Outcome, Plan, Reason, TickRecord, make_record
from engine.requests import Request, prompt_bytes
from engine.scheduling.policies import (
    ADMISSION,
    Admission,
    Door,
    choose_decodes,
    choose_drafts,
    choose_prefill,
    join_queue,
    pass_over,
    unfinished,
)
from engine.scheduling.sequence import Sequence, known_values
from engine.service import Service


class Scheduler:
    """Owns the queues, the tick and the pool. One ``plan`` is followed by one ``apply``.

    ``context`` is the longest prompt + output the executor can serve (None: any); ``admission`` an
    admission rule of one's own (None: the policy's).
    """

    def __init__(
        self, service: Service, *, context: int | None = None, admission: Admission | None = None
    ) -> None:
        self.service = service
        self.context = context
        self._admission = ADMISSION[service.policy] if admission is None else admission
        self.pool = make_pool(service, context or 1)
        self.tick = 0
        self._length = Fraction(service.tick)
        self.waiting: deque[Sequence] = deque()
        self.active: list[Sequence] = []  # in admission order
        self.closed = False
        self._pending: list[tuple[Decimal, int, Sequence]] = []  # not yet arrived, a heap
        self._live: dict[str, Sequence] = {}
        self._ended: dict[str, str] = {}  # key: cancelled or failed, since the last tick
        self._places = 0
        self._orders = 0

    # ---- what may happen between ticks -------------------------------------------------

    def submit(self, request: Request, key: str) -> None:
        """Let ``request`` arrive under ``key``. Raises InputError, touching nothing, if that key is live."""
        if key in self._live:
            raise InputError.of("id_is_live", id=repr(key))
        arrives = first_tick(request.arrival, self._length)
        sequence = Sequence(
            key,
            request,
            arrives=arrives,
            due=self._due(request) if self.service.max_wait else arrives,
            target=request.prompt_tokens,
            place=self._places,
            known=self._known(request),
        )
        self._live[key] = sequence
        heapq.heappush(self._pending, (request.arrival, self._places, sequence))
        self._places += 1

    def _due(self, request: Request) -> int:
        """The first tick at which it has waited ``max_wait``."""
        return first_tick(Fraction(request.arrival) + Fraction(self.service.max_wait), self._length)

    def _known(self, request: Request) -> list[int | None] | None:
        """The tokens by which the prefix cache finds pages; None where it has nothing to go by."""
        if not self.service.prefix_cache or request.prompt is None:
            return None
        return list(prompt_bytes(request.prompt))

    def cancel(self, key: str, reason: str = "cancelled") -> bool:
        """End a live request now: its place and pages are free for the next admission. False if not live.

        ``reason`` is cancelled, or failed when the request ends by an error.
        """
        sequence = self._live.pop(key, None)
        if sequence is None:
            return False
        sequence.finish = reason
        if sequence in self.active:
            self._leave(sequence)
        elif sequence in self.waiting:
            self.waiting.remove(sequence)
        else:
            self._forget_arrival(sequence)
        self._ended[key] = reason
        self._release_batch()
        return True

    def _forget_arrival(self, sequence: Sequence) -> None:
        """One that will not come keeps no batch waiting and leaves no trace."""
        self._pending = [entry for entry in self._pending if entry[2] is not sequence]
        heapq.heapify(self._pending)

    def size_for(self, requests: Iterable[Request]) -> None:
        """Before the first tick: let contiguous KV take the longest of ``requests`` as its length."""
        self.pool = make_pool(self.service, longest(requests))

    def close(self) -> None:
        """No more requests will be submitted."""
        self.closed = True

    @property
    def idle(self) -> bool:
        """Nothing is live, and no cancellation waits to be recorded."""
        return not self._live and not self.active and not self._ended

    def live(self, key: str) -> bool:
        """Whether ``key`` has been submitted and has not ended."""
        return key in self._live

    # ---- one tick ----------------------------------------------------------------------

    def plan(self) -> Plan:
        """Decide this tick. Takes pages, admits and preempts; must be followed by ``apply``.

        Raises Stalled when nothing can ever happen again although requests wait.
        """
        ended, self._ended = self._ended, {}
        arrived, refused, unfit = self._arrive()
        chosen, without_slot = choose_decodes(self.service, self.active)
        self._count_skips(without_slot)
        preempted = self._take_decode_pages(chosen)
        entered, closed_door = self._admit(tuple(preempted))
        chunks, without_prefill = choose_prefill(self.service, self.active, chosen)
        decode = tuple(self._decode(s, n) for s, n in choose_drafts(self.service, chosen, chunks))
        working = [s.key for s in chosen] + [chunk.id for chunk in chunks]
        blocked = unfit | without_slot | preempted
        if closed_door is not None:
            blocked.setdefault(self.waiting[0].key, closed_door)
        blocked |= without_prefill | self._held_seats(tuple(preempted))
        return Plan(
            tick=self.tick,
            decode=decode,
            prefill=tuple(chunks),
            tables={key: tuple(self.pool.table(key)) for key in working},
            arrived=arrived,
            cancelled=tuple(key for key, reason in ended.items() if reason == "cancelled"),
            failed=tuple(key for key, reason in ended.items() if reason == "failed"),
            refused=refused,
            admitted=tuple(s.key for s in entered),
            preempted=tuple(preempted),
            hits=tuple((s.key, s.processed) for s in entered) if self.service.prefix_cache else (),
            blocked=tuple((key, why) for key, why in blocked.items() if key not in working),
        )

    def apply(self, plan: Plan, outcome: Outcome) -> TickRecord:
        """Account for what the executor did, release what is finished, and go to the next tick."""
        failed = outcome.failed
        for chunk in plan.prefill:
            self._live[chunk.id].processed += chunk.count if chunk.id not in failed else 0
        emitted, finished = self._emit(plan, outcome)
        self._note_writes(plan)
        self._settle_pages(plan)
        usage = self._usage()
        for key, _ in finished:
            del self._live[key]
        self._release_finished()
        self.pool.check()
        self.tick += 1
        return make_record(plan, outcome, emitted, finished, usage, self._drain_events())

    # ---- arrive ------------------------------------------------------------------------

    def _arrive(self) -> tuple[tuple[str, ...], tuple[str, ...], dict[str, Reason]]:
        arrived, refused, reasons = [], [], {}
        while self._pending and self._pending[0][2].arrives <= self.tick:
            _, _, sequence = heapq.heappop(self._pending)
            arrived.append(sequence.key)
            why = self._unfit(sequence.request)
            if why is None:
                join_queue(self.service, self.waiting, sequence)
            else:
                del self._live[sequence.key]
                refused.append(sequence.key)
                reasons[sequence.key] = why
        return tuple(arrived), tuple(refused), reasons

    def _unfit(self, request: Request) -> Reason | None:
        """Why a request can never be served, or None."""
        tokens = request.prompt_tokens + request.output_tokens
        if self.context is not None and tokens > self.context:
            return Reason("too_long", have=self.context, need=tokens)
        length = self.pool.length
        if length is not None and tokens > length:
            return Reason("over_max_len", have=length, need=tokens)
        stored = tokens if self.service.kv_reserve == "full" else tokens - 1
        need = self.pool.need(stored)
        if self.pool.total is not None and need > self.pool.total:
            code = "never_fits" if self.service.kv_layout == "paged" else "never_fits_run"
            return Reason(code, have=self.pool.total, need=need)
        return None

    # ---- decode pages, and preemption when the pool runs out -----------------------------

    def _take_decode_pages(self, chosen: list[Sequence]) -> dict[str, Reason]:
        """Take the page of each token about to be written; removes from ``chosen`` who was preempted."""
        preempted: dict[str, Reason] = {}
        for sequence in list(chosen):
            if sequence.key in preempted or not self._needs_page(sequence):
                continue
            while sequence.key not in preempted and not self.pool.has(1):
                victim = next(s for s in reversed(self.active) if s.finish is None)
                by = (sequence.key,)
                preempted[victim.key] = Reason("preempted", by, have=victim.written, need=victim.emitted)
                self._preempt(victim)
            if sequence.key not in preempted:
                self.pool.take(sequence.key, 1)
        chosen[:] = [s for s in chosen if s.key not in preempted]
        return preempted

    def _needs_page(self, sequence: Sequence, ahead: int = 0) -> bool:
        """Whether the token ``ahead`` tokens after the next one would start a new page."""
        return sequence.written + ahead >= len(self.pool.table(sequence.key)) * self.pool.page_size

    def _decode(self, sequence: Sequence, drafts: int) -> Decode:
        """A decode step. Guesses take the pages they need if these are free; nobody is preempted for them."""
        for ahead in range(1, drafts + 1):
            if self._needs_page(sequence, ahead):
                if not self.pool.has(1):
                    return Decode(sequence.key, sequence.written, ahead - 1)
                self.pool.take(sequence.key, 1)
        return Decode(sequence.key, sequence.written, drafts)

    def _note_writes(self, plan: Plan) -> None:
        """Which pages hold something new: that of the tokens that were kept."""
        for key, start in plan.starts:
            self.pool.wrote(key, start, max(start, self._live[key].written))

    def _settle_pages(self, plan: Plan) -> None:
        """Give back the pages of wrong guesses, and let others find the pages that are full now."""
        for step in plan.decode:
            if step.drafts and self.service.kv_reserve == "on_demand":
                self.pool.trim(step.id, self.pool.need(self._live[step.id].written))
        size = self.pool.page_size
        for key, start in plan.starts:
            sequence = self._live[key]
            if sequence.known is not None and sequence.written // size > start // size:
                self.pool.publish(key, known_values(sequence.known[: sequence.written]))

    def _count_skips(self, passed_over: Iterable[str]) -> None:
        for key in passed_over:
            self._live[key].skipped += 1

    def _preempt(self, sequence: Sequence) -> None:
        """Lose what was written, keep what was emitted, go to the head of the queue."""
        self.pool.release(sequence.key, "preempt")
        self.active.remove(sequence)
        sequence.processed = sequence.found = sequence.skipped = 0
        sequence.target = sequence.request.prompt_tokens + sequence.emitted
        sequence.preemptions += 1
        self.waiting.appendleft(sequence)

    # ---- admit -------------------------------------------------------------------------

    def _admit(self, preempted: tuple[str, ...]) -> tuple[list[Sequence], Reason | None]:
        """Who comes in, and why the head of the queue does not (None when nobody waits).

        Raises Stalled when it never will.
        """
        entered: list[Sequence] = []
        if preempted:
            return entered, Reason("after_preemption", by=preempted)
        while self.waiting:
            why = self._door(entered) or self._lacks_pages(self.waiting[0])
            if why is not None:
                self._refuse_to_spin(why)
                return entered, why
            entered.append(self._enter(self.waiting.popleft()))
        return entered, None

    def _door(self, entered: list[Sequence]) -> Reason | None:
        more = bool(self._pending) or not self.closed
        return self._admission(Door(self.service, self.tick, self.active, entered, self.waiting, more))

    def _pages_at_admission(self, sequence: Sequence) -> tuple[list[int], int]:
        """Pages found in the prefix cache, and how many more are needed. One token is always computed."""
        full = self.service.kv_reserve == "full"
        need = self.pool.need(sequence.reserved if full else sequence.target)
        if sequence.known is None:
            return [], need
        found = self.pool.match(known_values(sequence.known), (sequence.target - 1) // self.pool.page_size)
        return found, need - len(found)

    def _lacks_pages(self, sequence: Sequence) -> Reason | None:
        found, need = self._pages_at_admission(sequence)
        if self.pool.has(need, beside=found):
            return None
        code = "no_pages" if self.service.kv_layout == "paged" else "no_run"
        have = self.pool.largest(beside=found)
        return Reason(code, by=tuple(s.key for s in self.active), have=have, need=need)

    def _enter(self, sequence: Sequence) -> Sequence:
        found, need = self._pages_at_admission(sequence)
        self.pool.share(sequence.key, found)
        self.pool.take(sequence.key, need)
        sequence.processed = sequence.found = len(found) * self.pool.page_size
        sequence.order = self._orders
        self._orders += 1
        sequence.skipped = 0
        pass_over(self.service, self.waiting, sequence)
        self.active.append(sequence)
        return sequence

    def _refuse_to_spin(self, why: Reason) -> None:
        hopeless = self.closed or why.code in ("no_pages", "no_run")
        if hopeless and not self.active and not self._pending:
            raise Stalled(self.tick, [s.key for s in self.waiting], why)

    # ---- emit, finish, release -----------------------------------------------------------

    def _held_seats(self, preempted: tuple[str, ...]) -> dict[str, Reason]:
        """Finished members of a static batch, waiting for the others (up to a last one just preempted)."""
        by = unfinished(self.active) or preempted
        return {s.key: Reason("seat_held", by=by) for s in self.active if s.finish is not None}

    def _emit(
        self, plan: Plan, outcome: Outcome
    ) -> tuple[list[tuple[str, int, int | None]], list[tuple[str, str]]]:
        emitted: list[tuple[str, int, int | None]] = []
        finished: list[tuple[str, str]] = []
        for key in dict.fromkeys((*plan.emitting, *outcome.failed)):
            sequence, result = self._live[key], outcome.results[key]
            for token in result.tokens[: sequence.left]:
                emitted.append((key, sequence.emitted, token))
                sequence.emitted += 1
                sequence.advanced, sequence.skipped = self.tick, 0
                if sequence.known is not None:
                    sequence.known.append(token)
            sequence.finish = result.finish or ("length" if not sequence.left else None)
            if sequence.finish is not None:
                finished.append((key, sequence.finish))
        return emitted, finished

    def _release_finished(self) -> None:
        """Finished requests leave; under static only when every member of the batch has finished."""
        if self.service.policy == "static":
            self._release_batch()
            return
        for sequence in [s for s in self.active if s.finish is not None]:
            self._leave(sequence)

    def _release_batch(self) -> None:
        if all(s.finish is not None for s in self.active):
            for sequence in list(self.active):
                self._leave(sequence)

    def _leave(self, sequence: Sequence) -> None:
        self.active.remove(sequence)
        self.pool.release(sequence.key)

    # ---- observe -----------------------------------------------------------------------

    def _usage(self) -> dict[str, Any]:
        """Queues, pages and tokens as they are now: after emission, before release."""
        return {
            "waiting": tuple(s.key for s in self.waiting),
            "active": tuple(s.key for s in self.active),
            "pages": self.pool.tables(),
            "reserved": sum(s.reserved for s in self.active),
            "held": sum(s.held for s in self.active),
            "written": sum(s.written for s in self.active),
            "free": self.pool.free_count(),
            "cached": self.pool.cached_count(),
        }

    def _drain_events(self) -> tuple[PageEvent, ...]:
        events = tuple(self.pool.events)
        self.pool.events.clear()
        return events
