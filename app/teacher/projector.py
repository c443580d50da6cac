"""The projector's view: how to join, where the class is, counts, votes when they are shown. No secrets."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import urlencode

from tornado.web import HTTPError

from app.classroom.board import Ballots, ballots_of, title_of
from app.classroom.judging import asked
from app.classroom.pages import picture_of
from app.classroom.poll import poll_of
from app.server import server
from app.state.directions import direction_of
from app.store import Decided, SchoolClass
from app.teacher.base import TeacherHandler
from app.web.identity import language_of, recognise

TOLD = ("reveal",)  # the phases in which the room may know what is right


class ProjectorHandler(TeacherHandler):
    """Looks at the class that goes on, and at the exercise that is led."""

    async def seen(self) -> dict[str, Any]:
        """What the templates show."""
        found = await self.looked_at()
        if found is None:
            raise HTTPError(404)
        store = server().store
        decided = await self.looked_up(store.classes.decided, found.id)
        name = self._exercise(decided)
        direction = direction_of(decided.of(name or ""), ended=decided.ended)
        ballots = await self._ballots(found, name)
        questions = (
            await asyncio.to_thread(poll_of, name, ballots, language_of(self), tell=direction.phase in TOLD)
            if name and direction.show_votes
            else ()
        )
        return {
            "exercise": name,
            "title": title_of(name, language_of(self)) if name else "",
            "direction": direction,
            "members": len(await self.looked_up(store.classes.members, found.id)),
            "ballots": ballots,
            "questions": questions,
            "one": next(
                (one for one in questions if one.key == self.get_query_argument("question", "")), None
            ),
            "link": self._link,
        }

    def _link(self, question: str = "") -> str:
        """The address of this page with one question of the poll, or with all of them."""
        kept = {name: self.get_query_argument(name, "") for name in ("exercise", "lang")}
        return "?" + urlencode({name: text for name, text in (kept | {"question": question}).items() if text})

    def _exercise(self, decided: Decided) -> str | None:
        wanted = self.get_query_argument("exercise", "")
        return wanted if asked(wanted) is not None else decided.newest

    async def _ballots(self, found: SchoolClass, name: str | None) -> Ballots:
        if name is None:
            return ballots_of(())
        return ballots_of(await self.looked_up(server().store.predictions, exercise=name, class_id=found.id))


class Project(ProjectorHandler):
    """The page."""

    async def get(self) -> None:
        recognise(self)
        self.show(
            "project.html.j2",
            **await self.seen(),
            address=self.classroom.addresses[0],
            code=self.classroom.keys.join,
            picture=picture_of(self.classroom),
        )


class ProjectPart(ProjectorHandler):
    """The part that changes."""

    async def get(self) -> None:
        self.show("projected.html.j2", **await self.seen())
