"""A recorded run told again without torch: its outcomes, tick by tick, through the ledger."""

from __future__ import annotations

from engine.history import History
from engine.ledger import Replay, step
from engine.scheduling.policies import Admission
from engine.scheduling.scheduler import Scheduler


def replay(history: History, *, context: int | None = None, admission: Admission | None = None) -> History:
    """The same run from its requests, outcomes and endings alone; equal records if the engine kept to
    its plans (not counting ``work``). ``context`` and ``admission`` are those of the engine. For closed
    traces.
    """
    again = History(history.service, dict(history.requests), horizon=history.horizon)
    scheduler = Scheduler(history.service, context=context, admission=admission)
    scheduler.size_for(history.requests.values())
    for key, request in history.requests.items():
        scheduler.submit(request, key)
    scheduler.close()
    executor = Replay(history.records)
    for record in history.records:
        for key in record.cancelled:
            scheduler.cancel(key)
        for key, reason in record.finished:
            if reason == "failed" and key not in record.active:  # else its work failed in this tick
                scheduler.cancel(key, "failed")
        again.records.append(step(scheduler, executor))
    return again
