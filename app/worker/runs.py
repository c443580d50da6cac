"""Recorded runs, shared by all learners of this server: a tick is run once, by whoever asks first."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from app.words import app_words
from app.worker.client import Worker
from app.worker.errors import WorkerRefused
from app.worker.spec import RunSpec
from engine import History, Request, TickRecord
from engine.words import Phrase, in_every_language

CHUNK = 64  # ticks asked for at once: between two chunks another learner has a turn
KEPT = 1024  # recordings kept: a class of a hundred, each at a variant of its own
LONGEST = 20_000  # ticks of one run
RUN_SECONDS = 120.0  # engine time of one run, as its ticks measured it


@dataclass
class Recording:
    """The ticks of one run so far; ``done`` when there are no more. Records are only ever added."""

    spec: RunSpec
    records: list[TickRecord] = field(default_factory=list)
    done: bool = False
    busy: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)

    def history(self, ticks: int | None = None) -> History:
        """The run's first ``ticks`` ticks (all that are known for None) as the views and metrics take it."""
        requests = {request.id: request for request in self.spec.requests}
        return History(self.spec.service, requests, self.records[:ticks])

    @property
    def seconds(self) -> float:
        """Engine time that this run has taken."""
        return sum(record.work.ms for record in self.records if record.work) / 1000

    def has(self, ticks: int) -> bool:
        """Whether the first ``ticks`` ticks are there, or all there are."""
        return self.done or len(self.records) >= ticks


class Runs:
    """Recordings by key. ``worker`` runs what nobody has run yet."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self.started = 0  # runs whose first ticks were made
        self._recordings: OrderedDict[str, Recording] = OrderedDict()
        self._comparisons: OrderedDict[tuple[Request, ...], asyncio.Future[dict[str, Any]]] = OrderedDict()

    @property
    def kept(self) -> int:
        """Recordings that are known."""
        return len(self._recordings)

    def recording(self, spec: RunSpec) -> Recording:
        """What is known of this run, without asking anybody. May forget the recording used longest ago."""
        key = spec.key
        found = self._recordings.setdefault(key, Recording(spec))
        self._recordings.move_to_end(key)
        if len(self._recordings) > KEPT:
            self._recordings.popitem(last=False)
        return found

    async def first(self, spec: RunSpec, ticks: int) -> Recording:
        """The recording with at least its first ``ticks`` ticks (fewer when it ends). Raises WorkerError."""
        recording = self.recording(spec)
        while not recording.has(ticks):
            async with recording.busy:  # for one chunk: whoever wants less of this run goes on after it
                if not recording.has(ticks):
                    await self._extend(recording, ticks)
        return recording

    async def all_first(self, specs: Sequence[RunSpec], ticks: int | None) -> list[Recording]:
        """``first`` for each of ``specs``, ``to_end`` for None. What is recorded costs nobody a turn.

        One after the other: so nobody has more than one command waiting, and the worker, which serves
        them in the order they came, goes round all who ask.
        """
        return [await (self.to_end(spec) if ticks is None else self.first(spec, ticks)) for spec in specs]

    async def upto(self, spec: RunSpec, tick: int) -> list[TickRecord]:
        """The records of the ticks 0 … ``tick`` (fewer when the run ends). Raises WorkerError."""
        return (await self.first(spec, tick + 1)).records[: tick + 1]

    async def to_end(self, spec: RunSpec) -> Recording:
        """The whole run. Raises WorkerError, also for one that does not come to its end."""
        recording = await self.first(spec, LONGEST)
        if not recording.done:
            raise _refused("endless", ticks=LONGEST)
        return recording

    async def comparison(self, requests: tuple[Request, ...]) -> dict[str, Any]:
        """The weight formats side by side on these prompts, measured once. Raises WorkerError."""
        found = self._comparisons.get(requests)
        if found is None or (found.done() and found.exception()):
            found = self._comparisons[requests] = asyncio.ensure_future(self.worker.compare(requests))
        if len(self._comparisons) > KEPT:
            self._comparisons.popitem(last=False)
        return await asyncio.shield(found)

    async def _extend(self, recording: Recording, ticks: int) -> None:
        start = len(recording.records)
        if recording.seconds > RUN_SECONDS:
            raise _refused("too_slow", seconds=f"{RUN_SECONDS:g}")
        upto = min(start + CHUNK, ticks) - 1
        answer = await self.worker.advance(recording.spec, start, upto)
        self.started += start == 0
        recording.records.extend(answer.records)
        recording.done = answer.done


def _refused(code: str, **values: object) -> WorkerRefused:
    """A run that goes on for too long is none that a lesson can show."""
    return WorkerRefused(in_every_language(Phrase(f"run.refused.{code}", app_words, **values)))
