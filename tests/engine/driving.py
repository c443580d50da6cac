"""Driving a scheduler by hand: cancellations between ticks, executors that end requests early."""

from __future__ import annotations

from fractions import Fraction

from engine import History, Outcome, Plan, Scheduler
from engine.ledger import Ledger, checked_horizon, step
from engine.records import Result


def drive(trace, service, horizon=None, cancels=None, executor=None):
    """``simulate`` with ``cancels`` (tick → ids) made just before their ticks."""
    history = History(service, horizon=checked_horizon(horizon))
    scheduler = Scheduler(service)
    scheduler.size_for(trace)
    for request in trace:
        history.requests[request.id] = request
        scheduler.submit(request, request.id)
    scheduler.close()
    end = None if history.horizon is None else Fraction(history.horizon)
    while not scheduler.idle and (end is None or scheduler.tick * Fraction(service.tick) < end):
        for name in (cancels or {}).get(scheduler.tick, ()):
            scheduler.cancel(name)
        history.records.append(step(scheduler, executor or Ledger()))
    return history


class Impatient:
    """An executor that ends requests early, after as many tokens as ``ends`` says."""

    def __init__(self, ends: dict[str, int]) -> None:
        self.ends = ends
        self.given: dict[str, int] = {}

    def execute(self, plan: Plan) -> Outcome:
        return Outcome({key: self._result(key) for key in plan.emitting})

    def _result(self, key: str) -> Result:
        self.given[key] = self.given.get(key, 0) + 1
        return Result((None,), "stop" if self.given[key] == self.ends.get(key) else None)
