"""A server without a process beside it: the store is real, the runs come from the ledger."""

from __future__ import annotations

from app.server import Server
from app.settings import Settings
from app.worker import Runs, RunSpec
from app.worker.spec import Advanced
from engine import simulate


class LedgerWorker:
    """Answers as the engine process does. ``fail`` is raised by the next call; ``calls`` counts them."""

    def __init__(self) -> None:
        self.fail: Exception | None = None
        self.calls = 0

    async def advance(self, spec: RunSpec, start: int, upto: int) -> Advanced:
        self.calls += 1
        if self.fail is not None:
            error, self.fail = self.fail, None
            raise error
        records = simulate(spec.requests, spec.service).records
        return Advanced(self.calls, tuple(records[start : upto + 1]), len(records) <= upto + 1)


def classroom(settings: Settings) -> Server:
    """A Server whose worker is the ledger; ``server.runs.worker`` is it."""
    server = Server(settings)
    server.runs = Runs(LedgerWorker())  # type: ignore[arg-type]
    return server
