"""Classes: the one that goes on, those of the past; begin, rename, end, go on with, delete."""

from __future__ import annotations

from tornado.web import HTTPError

from app.classroom.words import class_words
from app.server import server
from app.store import Decided, SchoolClass
from app.store.classes import NAME_LENGTH
from app.teacher.base import TeacherForm, TeacherHandler, class_title, local
from app.web.identity import language_of, recognise


class ClassList(TeacherHandler):
    """All classes; ``?delete=`` asks once more before one is deleted."""

    async def get(self) -> None:
        recognise(self)
        words = class_words(language_of(self))
        found: list[tuple[SchoolClass, int]] = await self.looked_up(server().store.classes.all)
        rows = [(one, class_title(one, words), local(one.started), members) for one, members in found]
        asked = self.get_query_argument("delete", "")
        doomed = next((row for row in rows if str(row[0].id) == asked and row[0].ended), None)
        self.show("classes.html.j2", rows=rows, doomed=doomed, token=self.form_token, local=local)


class ClassAct(TeacherForm):
    """One change to one class."""

    async def post(self, act: str) -> None:
        classes = server().store.classes
        if act == "start":
            await self._start(self.get_body_argument("name", "").strip()[:NAME_LENGTH])
        elif act == "rename":
            await self.stored(classes.rename, self._number, self.get_body_argument("name", ""))
        elif act == "delete":
            await self._delete()
        else:
            await self.stored({"end": classes.end, "resume": classes.resume}[act], self._number)
        self.redirect("../classes", status=303)

    async def _start(self, name: str) -> None:
        """A new class; a button that is pressed twice begins one, not two."""
        classes = server().store.classes
        goes_on: SchoolClass | None = await self.looked_up(classes.current)
        if goes_on is None or goes_on.name != name or await self._is_used(goes_on):
            await self.stored(classes.start, name, keep_days=self.classroom.options.keep_days)

    async def _is_used(self, one: SchoolClass) -> bool:
        """Whether anybody has joined it, or anything was decided in it."""
        classes = server().store.classes
        decided: Decided = await self.looked_up(classes.decided, one.id)
        return bool(decided.values or await self.looked_up(classes.members, one.id))

    @property
    def _number(self) -> int:
        text = self.get_body_argument("class", "")
        if not (text.isascii() and text.isdigit() and len(text) < 10):
            raise HTTPError(400)
        return int(text)

    async def _delete(self) -> None:
        try:
            await self.stored(server().store.classes.delete, self._number)
        except ValueError as error:
            raise HTTPError(409) from error
