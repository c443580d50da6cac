"""The ledger in a hurry: the figures of a long trace without a record per tick.

    skim(trace, service).summary()

The scheduler is the same and so are its rules. Where nothing is contested, what a request does from
its first token to its last is known, and a stretch of ticks is passed from event to event (an arrival,
a prompt chunk, a last token); every other tick is planned and applied as always.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from time import perf_counter
from typing import Any

from engine.exact import first_tick
from engine.history import History
from engine.ledger import Ledger, checked_horizon, simulate, step
from engine.measuring.costs import Costs
from engine.measuring.life import Life, note
from engine.measuring.measurement import Measurement
from engine.measuring.metrics import Metrics, Summary
from engine.measuring.peaks import Peaks
from engine.records import Reason
from engine.requests import Request, check_trace
from engine.scheduling.policies import oldest_due, share_prefill
from engine.scheduling.scheduler import Scheduler
from engine.scheduling.sequence import Sequence
from engine.service import Service, checked_service
from engine.skimming.counting import CountingPool
from engine.skimming.crowd import Crowd


@dataclass(frozen=True)
class Skim:
    """A run of ``ticks`` ticks of which only lives and sums were kept."""

    service: Service
    horizon: Decimal | None
    ticks: int
    lives: dict[str, Life]
    peaks: Peaks
    costs: Costs

    def summary(self, slo_ttft: object = None, slo_tpot: object = None) -> Summary:
        """The summary under the given limits (s), equal to that of the recorded run."""
        return self._measured(slo_ttft, slo_tpot).summary(self.peaks, self.costs)

    def metrics(self, slo_ttft: object = None, slo_tpot: object = None) -> Metrics:
        """The summary and the figures of every request."""
        found = self._measured(slo_ttft, slo_tpot)
        return Metrics(found.requests(), found.summary(self.peaks, self.costs))

    @property
    def refused(self) -> dict[str, Reason]:
        """Why each refused request was refused, by key."""
        return {key: life.refusal for key, life in self.lives.items() if life.refusal is not None}

    def history(self) -> History:
        """The same run again, with a record of every tick."""
        return simulate([life.request for life in self.lives.values()], self.service, self.horizon)

    def _measured(self, slo_ttft: object, slo_tpot: object) -> Measurement:
        return Measurement(self.service, self.lives, self.ticks, self.horizon, slo_ttft, slo_tpot)


def skim(requests: Iterable[Request], service: Service | None = None, horizon: object = None) -> Skim:
    """Run a closed trace through the ledger as ``simulate`` does, and keep no records.

    Raises InputError for malformed input and Stalled when a run can never go on.
    """
    trace, limit = check_trace(requests), checked_horizon(horizon)
    skimmer = Skimmer(checked_service(service), trace)
    for until, late in skimmer.spans(limit):
        skimmer.run(until, late=late)
    return skimmer.skimmed(limit)


class Skimmer(Scheduler):
    """The scheduler with a fast forward; it keeps ``lives``, ``peaks`` and ``costs`` itself."""

    def __init__(self, service: Service, trace: list[Request]) -> None:
        super().__init__(service)
        self.size_for(trace)
        if service.kv_layout == "paged" and not service.prefix_cache:
            self.pool = CountingPool(service.pages, service.page_size)
        self.lives = {request.id: Life(request) for request in trace}
        self.peaks, self.costs = Peaks(), Costs()
        self._crowd = Crowd()  # who decodes
        self._parked: deque[Sequence] = deque()  # who is ready and has no slot, under fcfs
        self._prefilling: list[Sequence] = []  # in admission order
        self._seated: list[Sequence] = []  # finished members of a static batch
        self._still = 0  # tokens that the parked and the seated hold
        self._freed = True  # whether the last tick gave a place, pages or a slot back
        self._room = min(service.decode_slots, service.shared_budget or service.decode_slots)
        self._by_turns = service.decode_order == "fcfs"
        self._late = False  # whether ticks end after the horizon: their memory is not observed
        self._deadline: float | None = None  # by the clock of the machine, when a run may take a pause
        for request in trace:
            self.submit(request, request.id)
        self.close()

    def spans(self, horizon: Decimal | None) -> list[tuple[int | None, bool]]:
        """The pieces in which a run to ``horizon`` (s) goes, as ``until`` and ``late`` of ``run``."""
        if horizon is None:
            return [(None, False)]
        tick = Fraction(self.service.tick)
        return [(int(Fraction(horizon) // tick), False), (first_tick(horizon, tick), True)]

    def skimmed(self, horizon: Decimal | None) -> Skim:
        """What was kept, once every piece to ``horizon`` has been run."""
        return Skim(self.service, horizon, self.tick, self.lives, self.peaks, self.costs)

    def run(self, until: int | None, *, late: bool = False, seconds: float | None = None) -> None:
        """Every tick before ``until`` (None: to the end), or as many as fit into about ``seconds``.

        ``late`` ticks end after the horizon: memory is read at the end of a tick, and theirs is not
        observed. A run that was left may be gone on with; in pieces it is the same as in one.
        """
        self._late = late
        self._deadline = None if seconds is None else perf_counter() + seconds
        while not self.idle and (until is None or self.tick < until):
            if self._is_calm():
                self._pass_stretch(until)
            else:
                self._plain_tick()
            if self._is_time_up():
                return

    def _is_time_up(self) -> bool:
        return self._deadline is not None and perf_counter() > self._deadline

    def _is_calm(self) -> bool:
        """Whether no page is taken as tokens are written, and who has a slot keeps it to the end."""
        service = self.service
        if service.kv_reserve == "on_demand" or service.prefix_cache or service.speculate is not None:
            return False
        return self._by_turns or sum(sequence.ready for sequence in self.active) <= self._room

    def _plain_tick(self) -> None:
        """One tick as always; its record is read and dropped."""
        record = step(self, Ledger())
        note(record, self.lives)
        self.costs.note(record)
        self.peaks.see_queue(len(record.waiting))

    def _usage(self) -> dict[str, Any]:
        usage = super()._usage()
        self._see_memory(usage["reserved"], usage["held"], usage["written"])
        return usage

    def _see_memory(self, reserved: int, held: int, written: int) -> None:
        if not self._late:
            self.peaks.see_memory(reserved, held, written, self.pool.used_count())

    # ---- a stretch of calm ticks -----------------------------------------------------------------

    def _pass_stretch(self, until: int | None) -> None:
        """From event to event, until slots are contested, ``until`` is reached or nobody is left."""
        self._gather()
        while not self.idle and (self._by_turns or len(self._crowd) + len(self._parked) <= self._room):
            event = self._next_event()
            if until is not None and event >= until:
                self._forward(until)
                self._look(until - 1)
                break
            self._forward(event)
            self._turn()
            if self._is_time_up():
                break
        self._scatter()

    def _next_event(self) -> int:
        """The next tick in which more happens than one token for everybody in the crowd."""
        if self._prefilling or (self._freed and (self.waiting or self._parked)):
            return self.tick
        events = []
        if self._pending:
            events.append(self._pending[0][2].arrives)
        if self._crowd.next_end is not None:
            events.append(self._crowd.next_end)
        if self.waiting and not self.active:
            events.append(oldest_due(self.waiting))  # a batch starts although it is not full
        return max(self.tick, min(events, default=self.tick))

    def _forward(self, tick: int) -> None:
        """Pass the ticks before ``tick``."""
        self.costs.computed += len(self._crowd) * (tick - self.tick)
        self.tick = tick

    def _turn(self) -> None:
        """One tick in which something happens."""
        while self._parked and len(self._crowd) < self._room:
            sequence = self._parked.popleft()
            self._still -= sequence.held
            self._crowd.join(sequence, self.tick)
        decodes = len(self._crowd)
        self.costs.computed += decodes
        self._let_in()
        self._prefill(decodes)
        self._look(self.tick)
        self._finish()
        self.pool.events.clear()
        self.tick += 1

    def _let_in(self) -> None:
        arrived, refused, reasons = self._arrive()
        for key in arrived:
            self.lives[key].arrived = self.tick
        for key in refused:
            self.lives[key].status, self.lives[key].refusal = "refused", reasons[key]
        entered, _ = self._admit(())
        for sequence in entered:
            self.lives[sequence.key].admitted, self.lives[sequence.key].status = self.tick, "active"
            self._reserved += sequence.reserved
            self._prefilling.append(sequence)
        self.peaks.see_queue(len(self.waiting))

    def _prefill(self, decodes: int) -> None:
        """Process prompts; whose prompt is complete gives a token, and another in every tick with a slot."""
        if not self._prefilling:
            return
        chunks, _ = share_prefill(self.service, self._prefilling, decodes)
        for sequence, chunk in zip(self._prefilling, chunks, strict=False):
            life = self.lives[sequence.key]
            life.start = self.tick if life.start is None else life.start
            sequence.processed += chunk.count
            self.costs.computed += chunk.count
            if chunk.last:
                self._begin(sequence)
        self._prefilling = [sequence for sequence in self._prefilling if sequence.remaining]

    def _begin(self, sequence: Sequence) -> None:
        """Its first token comes out in this tick; it goes on if there is a slot for it in the next."""
        if sequence.left == 1 or (not self._parked and len(self._crowd) < self._room):
            self._crowd.join(sequence, self.tick)
            return
        self._give_tokens(sequence, self.tick, 1)
        self._parked.append(sequence)
        self._still += sequence.held

    def _look(self, tick: int) -> None:
        """Read the memory at the end of ``tick``, before release."""
        held = self._crowd.held(tick) + self._still
        written = held - len(self._crowd) - len(self._parked) - len(self._seated)
        part = sum(s.processed for s in self._prefilling)
        self._see_memory(self._reserved, held + part, written + part)

    def _finish(self) -> None:
        """Last tokens, and the places they give back: under static when the whole batch has ended."""
        ended = self._crowd.pop_ended(self.tick)
        for sequence, since in ended:
            self._give_tokens(sequence, since, self.tick - since + 1)
            sequence.finish = "length"
            life = self.lives[sequence.key]
            life.ended, life.status, life.reason = self.tick, "finished", "length"
            del self._live[sequence.key]
        leaving = [sequence for sequence, _ in ended]
        if self.service.policy == "static":
            self._seated += leaving
            self._still += sum(sequence.held for sequence in leaving)
            leaving, self._seated = self._rising()
            self._still -= sum(sequence.held for sequence in leaving)
        for sequence in leaving:
            self._reserved -= sequence.reserved
            self._leave(sequence)
        self._freed = bool(ended)

    def _rising(self) -> tuple[list[Sequence], list[Sequence]]:
        """Who leaves a static batch, and who keeps a seat in it."""
        going_on = self._crowd or self._parked or self._prefilling
        return ([], self._seated) if going_on else (self._seated, [])

    # ---- from plain ticks to a stretch, and back -------------------------------------------------

    def _gather(self) -> None:
        """Sort the active into those who decode, those in prefill and those who only keep a seat."""
        self._freed = True
        self._reserved = sum(sequence.reserved for sequence in self.active)
        self._prefilling = [sequence for sequence in self.active if sequence.remaining]
        self._seated = [sequence for sequence in self.active if sequence.finish is not None]
        self._crowd, self._parked = Crowd(), deque(s for s in self.active if s.ready)
        self._still = sum(sequence.held for sequence in (*self._parked, *self._seated))

    def _scatter(self) -> None:
        """Write back what the crowd has done."""
        for sequence, since in self._crowd:
            if since < self.tick:
                self._give_tokens(sequence, since, self.tick - since)
        self.pool.check()

    def _give_tokens(self, sequence: Sequence, since: int, count: int) -> None:
        sequence.emitted += count
        sequence.advanced, sequence.skipped = since + count - 1, 0
        self.lives[sequence.key].add_tokens(since, count)
