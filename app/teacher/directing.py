"""What the teacher decides: the phase of an exercise, lock step, votes on the projector, reading pages."""

from __future__ import annotations

from functools import cache
from typing import Any

from tornado.web import HTTPError

from app.classroom.judging import asked
from app.classroom.opening import READING
from app.server import server
from app.state.directions import PHASES, leaps
from app.teacher.base import TeacherForm
from puzzles import histories


@cache
def last_tick(name: str) -> int:
    """The last tick of an exercise's longest run, by the ledger."""
    exercise = asked(name)
    assert exercise is not None
    return max(len(history.records) for history in histories(exercise).values()) - 1


def decision(name: str, value: str, exercise: str) -> Any:
    """The value of a decision as it is stored. Raises ValueError for one that cannot be."""
    if name == "phase" and value in PHASES:
        return value
    if name == "show_votes" and value in ("0", "1"):
        return value == "1"
    if name == "tick" and value == "":
        return None
    if name == "tick" and value.isascii() and value.isdigit() and len(value) < 7:
        return min(int(value), last_tick(exercise))
    raise ValueError(f"{name} cannot be {value!r}")


class Direct(TeacherForm):
    """One decision for one exercise of the class that goes on. A phase that opens the run or the verdict
    out of turn is asked about first, unless the form says ``sure``."""

    async def post(self) -> None:
        exercise = self.get_body_argument("exercise", "")
        if asked(exercise) is None:
            raise HTTPError(400)
        if await self._is_slip(exercise):
            self.redirect(f"../teach?{self.request.query}&ask={self.get_body_argument('phase')}", status=303)
            return
        for name in ("phase", "tick", "show_votes"):
            if name in self.request.body_arguments:
                await self._decide(name, exercise)
        self.redirect(f"../teach?{self.request.query}", status=303)

    async def _is_slip(self, exercise: str) -> bool:
        phase = self.get_body_argument("phase", "")
        if phase not in PHASES or self.sure:
            return False
        return leaps((await self.direction(await self.current(), exercise)).phase, phase)

    async def _decide(self, name: str, exercise: str) -> None:
        try:
            value = decision(name, self.get_body_argument(name), exercise)
        except ValueError as error:
            raise HTTPError(400) from error
        classes, current = server().store.classes, await self.current()
        await self.stored(classes.decide, current.id, name, value, exercise=exercise)


class OpenReading(TeacherForm):
    """Opens or closes the answers on the pages without JavaScript. Opening is asked about first, unless
    the form says ``sure``."""

    async def post(self) -> None:
        value = self.get_body_argument("open", "") == "1"
        if value and not self.sure:
            self.redirect(f"../teach?{self.request.query}&ask={READING}#reading", status=303)
            return
        current = await self.current()
        await self.stored(server().store.classes.decide, current.id, READING, value)
        self.redirect(f"../teach?{self.request.query}", status=303)
