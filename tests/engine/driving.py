"""Driving a scheduler by hand: cancellations between ticks, executors that end requests early."""

from __future__ import annotations

from fractions import Fraction

from engine import History, Scheduler
from engine.ledger import Ledger, checked_horizon, step


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
