"""One learner at the transfer task. Every transition is decided here, from what the store holds."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping

import msgspec

from app.server import Server
from app.store import STEPS, Attempt, Draft, Place, Prediction, Progress
from puzzles.design import FIELDS, plan_of, read, sound, task
from puzzles.design.plan import Plan
from puzzles.design.task import MOST_SEED, Task

EXERCISE = "design"  # in the store
TEXT_LENGTH = 100  # characters of one field
WHY_LENGTH = 500
WHOLE = re.compile(r"[0-9]{1,6}")


class Visit(msgspec.Struct, frozen=True):
    """Where a learner is: the attempt (seed None: the traffic of the page), what is typed, what is locked."""

    place: Place
    seed: int | None
    draft: Draft
    prediction: Prediction | None
    progress: Progress

    @property
    def step(self) -> str:
        """The step of the page: nothing but reading before the first check, nothing run before the lock."""
        if self.prediction is None:
            return "predict" if self.draft.answers else "read"
        return max("run", self.progress.step, key=STEPS.index)

    @property
    def texts(self) -> dict[str, str]:
        """What stands in the fields: locked, or typed."""
        return self.prediction.answers if self.prediction else self.draft.answers

    def task(self) -> Task:
        """The task with the traffic of this attempt."""
        return task(self.seed or 0)

    def plan(self) -> Plan:
        """The locked plan."""
        assert self.prediction is not None
        return plan_of(self.prediction.answers)


def look(server: Server, learner: str) -> Visit:
    """Where the store says this learner is. Changes nothing."""
    store = server.store
    attempt = store.latest(learner, EXERCISE) or Attempt(Place(learner, EXERCISE, 1), None, store.clock())
    place = attempt.place
    return Visit(place, attempt.seed, store.draft(place), store.prediction(place), store.progress(place))


def keep(server: Server, visit: Visit, raw: Mapping[str, str]) -> None:
    """Keep what is typed, unless it is locked already."""
    _begin(server, visit)
    server.store.save_draft(visit.place, draft_of(raw))
    _progress(server, visit, "predict")


def lock(server: Server, visit: Visit, raw: Mapping[str, str]) -> bool:
    """Lock what is typed for good, if all of it is there and L = λW holds in it; else only keep it."""
    keep(server, visit, raw)
    draft = draft_of(raw)
    texts, problems = read(draft.answers, required=True)
    if problems or not sound(visit.task(), plan_of(texts)):
        return False
    server.store.lock(visit.place, texts, confidence=draft.confidence, why=draft.why)
    _progress(server, visit, "run")
    return True


def ran(server: Server, visit: Visit) -> None:
    """The runs were asked for; only of use once the design is locked."""
    if visit.prediction is not None:
        _progress(server, visit, "observe")


def observe(server: Server, visit: Visit, text: str) -> bool:
    """Keep the number read off the table; the first one counts. False for a text that is none."""
    if visit.step != "observe":
        return True
    typed = text.strip()
    if not WHOLE.fullmatch(typed):
        return False
    _progress(server, visit, "verdict", observed={"text": typed, "value": int(typed)}, revealed=True)
    return True


def again(server: Server, visit: Visit) -> None:
    """Another attempt on other traffic, once the verdict was seen; the design stays in the fields."""
    if visit.prediction is None or not visit.progress.revealed:
        return
    place = Place(visit.place.learner, EXERCISE, visit.place.attempt + 1)
    server.store.begin(place, secrets.randbelow(MOST_SEED) + 1)
    _progress(server, visit, "again")
    kept = {name: text for name, text in visit.prediction.answers.items() if not name.startswith("expect_")}
    server.store.save_draft(place, Draft(kept))


def draft_of(raw: Mapping[str, str]) -> Draft:
    """Only fields that there are, and not too long: a form comes from a browser."""
    known = {field.name: raw[field.name][:TEXT_LENGTH] for field in FIELDS if raw.get(field.name)}
    if "variables" in known:
        known["variables"] = raw["variables"][: 4 * TEXT_LENGTH]
    level = raw.get("confidence", "")
    confidence = int(level) if level in ("1", "2", "3", "4") else None
    return Draft(known, confidence, raw.get("why", "")[:WHY_LENGTH])


def _begin(server: Server, visit: Visit) -> None:
    server.store.begin(visit.place, visit.seed)


def _progress(server: Server, visit: Visit, step: str, **changes: object) -> None:
    now = visit.progress
    farther = msgspec.structs.replace(now, **({"step": step} | changes))
    server.store.save_progress(visit.place, farther)
