"""Everything that a class has locked, as a file."""

from __future__ import annotations

import asyncio

from tornado.web import HTTPError

from app.classroom.exports import as_csv, as_json
from app.server import server
from app.teacher.base import TeacherHandler


class Export(TeacherHandler):
    """The class looked at; with ``names=1`` and only then with the nicknames."""

    async def get(self, kind: str) -> None:
        found = await self.looked_at()
        if found is None:
            raise HTTPError(404)
        store = server().store
        predictions = await self.looked_up(store.predictions, class_id=found.id)
        names = None
        if self.get_query_argument("names", "") == "1":
            members = await self.looked_up(store.classes.members, found.id)
            names = {one.learner: one.nickname or "" for one in members}
        make, mime = {"csv": (as_csv, "text/csv"), "json": (as_json, "application/json")}[kind]
        body = await asyncio.to_thread(make, predictions, self.classroom.judge, names)
        self.set_header("Content-Type", f"{mime}; charset=utf-8")
        self.set_header("Content-Disposition", f'attachment; filename="class-{found.id}.{kind}"')
        self.write(body)
