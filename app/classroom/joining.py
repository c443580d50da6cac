"""How a browser becomes a learner of the class that goes on."""

from __future__ import annotations

from typing import Any, Protocol

from tornado.web import RequestHandler

from app.classroom.classroom import Classroom
from app.classroom.gate import JOINED
from app.server import server
from app.state.directions import led_now
from app.store import Member, SchoolClass
from app.web.identity import learner_of, rename


class Door(Protocol):
    """A handler that knows its class."""

    classroom: Classroom


async def current_class() -> SchoolClass | None:
    """The class that goes on, None when it has ended."""
    return await server().looked_up(server().store.classes.current)


async def exercise_now() -> str:
    """The exercise at which the class is, empty when it is at none."""
    goes_on = await current_class()
    if goes_on is None:
        return ""
    return led_now(await server().looked_up(server().store.classes.decided, goes_on.id))


async def member_of(handler: RequestHandler) -> Member | None:
    """Who this browser is in its class."""
    learner = learner_of(handler)
    return await server().looked_up(server().store.classes.member, learner) if learner else None


async def is_inside(handler: Any) -> bool:
    """Whether this browser has given the code and is a member of the class that goes on."""
    if not handler.classroom.gate.admitted(handler, JOINED):
        return False
    member, goes_on = await member_of(handler), await current_class()
    return member is not None and goes_on is not None and member.class_id == goes_on.id


async def join(handler: RequestHandler) -> bool:
    """Make this browser a member; a member of another class is a new learner here. False: no class."""
    classes, goes_on = server().store.classes, await current_class()
    if goes_on is None:
        return False
    learner = learner_of(handler) or rename(handler)
    if not await server().stored(classes.join, learner, goes_on.id):
        await server().stored(classes.join, rename(handler), goes_on.id)
    return True


async def call(handler: RequestHandler, nickname: str) -> None:
    """Keep the nickname of this browser's learner."""
    learner = learner_of(handler)
    if learner:
        await server().stored(server().store.classes.call, learner, nickname)
