"""The ledger: the scheduler's plans executed by counting. No torch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Protocol

from engine.errors import InputError
from engine.exact import first_tick, seconds
from engine.history import History
from engine.records import Outcome, Plan, Result, TickRecord
from engine.requests import Request, check_trace
from engine.scheduling.policies import Admission
from engine.scheduling.scheduler import Scheduler
from engine.service import Service, checked_service


class Executor(Protocol):
    """Whoever carries out a plan: one Result per emitting id."""

    def execute(self, plan: Plan) -> Outcome:
        """What became of the plan. Changes nothing of the schedule."""
        ...


class Ledger:
    """One token for everybody whose turn it is; requests end by length."""

    def execute(self, plan: Plan) -> Outcome:
        """A token of unknown value for each emitting id."""
        return Outcome({key: Result((None,)) for key in plan.emitting})


class Replay:
    """The outcomes of a recorded run, tick by tick: an engine run told again without torch."""

    def __init__(self, records: Iterable[TickRecord]) -> None:
        self._records = iter(records)

    def execute(self, plan: Plan) -> Outcome:
        """What the next record says. Raises StopIteration when the run is told."""
        record = next(self._records)
        finish = dict(record.finished)
        failed = [chunk.id for chunk in plan.prefill if finish.get(chunk.id) == "failed"]
        tokens: dict[str, list[int | None]] = {key: [] for key in (*plan.emitting, *failed)}
        for key, _, token in record.emitted:
            tokens[key].append(token)
        guessed = {key: (drafted, accepted) for key, drafted, accepted in record.drafts}
        return Outcome(
            {
                key: Result(tuple(got), finish.get(key), *guessed.get(key, (0, 0)))
                for key, got in tokens.items()
            }
        )


def step(scheduler: Scheduler, executor: Executor) -> TickRecord:
    """One tick."""
    plan = scheduler.plan()
    return scheduler.apply(plan, executor.execute(plan))


def in_time(scheduler: Scheduler, horizon: Decimal | None) -> bool:
    """Whether the next tick starts before ``horizon`` (s)."""
    return horizon is None or scheduler.tick < first_tick(horizon, Fraction(scheduler.service.tick))


def goes_on(scheduler: Scheduler, horizon: Decimal | None) -> bool:
    """Whether a run has another tick: something is live, and it starts before ``horizon`` (s)."""
    return not scheduler.idle and in_time(scheduler, horizon)


def ticks(scheduler: Scheduler, executor: Executor, horizon: Decimal | None) -> Iterator[TickRecord]:
    """Every tick that starts before ``horizon`` (s), until nothing is live."""
    while goes_on(scheduler, horizon):
        yield step(scheduler, executor)


def checked_horizon(horizon: object) -> Decimal | None:
    """``horizon`` as exact seconds above 0, or None. Raises InputError."""
    if horizon is None:
        return None
    limit = seconds(horizon, "horizon")
    if limit <= 0:
        raise InputError.of("no_time", at="horizon", value=horizon)
    return limit


def simulate(
    requests: Iterable[Request],
    service: Service | None = None,
    horizon: object = None,
    executor: Executor | None = None,
    *,
    admission: Admission | None = None,
) -> History:
    """Run a closed trace through the ledger. ``horizon`` in seconds, None to run to the end.

    Every tick has a record, one in which nothing happens too; ``skim`` is for traces that last long.

    ``admission`` is an admission rule of one's own instead of the policy's, such as

        def two_at_most(door: Door) -> Reason | None:
            full = len(door.active) >= 2
            return Reason("max_active", have=len(door.active), need=2) if full else None

    (``Door`` and the rules of the three policies stand in ``engine.scheduling.policies``). The records
    are those of such a run with any ``executor``. Raises InputError for malformed input and Stalled
    when a run can never go on.
    """
    trace = check_trace(requests)
    history = History(checked_service(service), horizon=checked_horizon(horizon))
    scheduler = Scheduler(history.service, admission=admission)
    scheduler.size_for(trace)
    for request in trace:
        history.requests[request.id] = request
        scheduler.submit(request, request.id)
    scheduler.close()
    history.records.extend(ticks(scheduler, executor or Ledger(), history.horizon))
    return history
