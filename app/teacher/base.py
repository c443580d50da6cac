"""What the teacher's handlers have in common: nobody else gets in, and which class is looked at."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

from sqlalchemy.exc import SQLAlchemyError
from tornado.web import HTTPError

from app.classroom.gate import TEACHER
from app.classroom.pages import ClassHandler
from app.server import server
from app.state.directions import Direction, direction_of
from app.store import SchoolClass
from app.web.forms import demand_own_form
from engine.words import Catalogue


class TeacherHandler(ClassHandler):
    """Lets nobody in but the teacher."""

    def prepare(self) -> None:
        super().prepare()
        if not self.classroom.gate.admitted(self, TEACHER):
            raise HTTPError(403)

    @property
    def form_token(self) -> str:
        return self.classroom.gate.form_token(self)

    async def stored(self, call: Callable[..., Any], *args: Any, **names: Any) -> Any:
        """Change the store. 503 when it does not take it."""
        return await _or_503(server().stored(call, *args, **names))

    async def looked_up(self, call: Callable[..., Any], *args: Any, **names: Any) -> Any:
        """What the store says, whoever writes meanwhile. 503 when it says nothing."""
        return await _or_503(server().looked_up(call, *args, **names))

    async def looked_at(self) -> SchoolClass | None:
        """The class the address names, else the one that goes on, else the last one."""
        found: dict[int, SchoolClass] = {
            one.id: one for one, _ in await self.looked_up(server().store.classes.all)
        }
        asked = self.get_query_argument("class", "")
        if asked.isascii() and asked.isdigit() and int(asked) in found:
            return found[int(asked)]
        current = next((one for one in found.values() if one.ended is None), None)
        return current or next(iter(found.values()), None)

    async def direction(self, school_class: SchoolClass, exercise: str) -> Direction:
        """Where that class is with that exercise."""
        decided = await self.looked_up(server().store.classes.decided, school_class.id, exercise=exercise)
        return direction_of(decided.of(exercise), ended=decided.ended)


async def _or_503(asked: Awaitable[Any]) -> Any:
    try:
        return await asked
    except (SQLAlchemyError, ConnectionError) as error:
        raise HTTPError(503) from error


class TeacherForm(TeacherHandler):
    """Takes a form that was shown to this very browser, from nobody else."""

    def prepare(self) -> None:
        super().prepare()
        demand_own_form(self)
        if not self.classroom.gate.form_fits(self, self.get_body_argument("token", "")):
            raise HTTPError(403)

    @property
    def sure(self) -> bool:
        """Whether the form says that this was meant."""
        return self.get_body_argument("sure", "") == "1"

    async def current(self) -> SchoolClass:
        """The class that goes on. 409 when it has ended meanwhile."""
        found: SchoolClass | None = await self.looked_up(server().store.classes.current)
        if found is None:
            raise HTTPError(409)
        return found


def class_title(one: SchoolClass, words: Catalogue) -> str:
    """What a class is called: its name, else when it began."""
    return one.name or words("class.unnamed", when=local(one.started))


def local(moment: datetime) -> str:
    """A moment as the clock on the wall has it."""
    return moment.astimezone().strftime("%Y-%m-%d %H:%M")
