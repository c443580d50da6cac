"""The teacher's page: plain HTTP, behind the secret link. It reads the store and changes nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from sqlalchemy.exc import SQLAlchemyError
from tornado.web import HTTPError

from app.classroom.board import board_of, title_of
from app.classroom.exports import as_csv, as_json
from app.classroom.gate import TEACHER
from app.classroom.handlers import ClassHandler, picture_of
from app.classroom.judging import Judge
from app.classroom.reading import READING, is_open
from app.classroom.words import class_words
from app.server import server
from app.store import Prediction
from app.web.forms import demand_own_form
from app.web.identity import language_of, recognise

HOURS = (4, 24, 0)  # 0: all that is kept
MAIN = "main"


class TeacherHandler(ClassHandler):
    """Lets nobody in but the teacher."""

    def prepare(self) -> None:
        super().prepare()
        if not self.classroom.gate.admitted(self, TEACHER):
            raise HTTPError(403)

    @property
    def hours(self) -> int:
        """How far back the teacher looks."""
        asked = self.get_query_argument("hours", "")
        return int(asked) if asked in {str(hours) for hours in HOURS} else HOURS[0]

    @property
    def since(self) -> datetime | None:
        return datetime.now(UTC) - timedelta(hours=self.hours) if self.hours else None

    async def stored(self, call: Callable[..., Any], **names: Any) -> Any:
        """What the store says. 503 when it says nothing."""
        try:
            return await server().stored(call, **names)
        except (SQLAlchemyError, ConnectionError) as error:
            raise HTTPError(503) from error


class Teach(TeacherHandler):
    """The page; with the secret link, the cookie that opens it."""

    def prepare(self) -> None:
        key = self.get_query_argument("key", "")
        if key and self.classroom.gate.fits(TEACHER, key):
            self.classroom.gate.admit(self, TEACHER)
            self.redirect(self.request.path, status=303)
            return
        super().prepare()

    async def get(self) -> None:
        recognise(self)
        board = await boards(self) | {"reading": await is_open(), "picture": picture_of(self.classroom)}
        self.show("teach.html.j2", code=self.classroom.keys.join, link=self._link(board), **board)

    def _link(self, board: dict[str, Any]) -> Callable[..., str]:
        """Makes addresses of this page with something else chosen."""
        chosen = {"exercise": board["board"].exercise, "hours": board["hours"], "show": int(board["show"])}
        chosen["lang"] = language_of(self)
        return lambda **other: "?" + urlencode(chosen | other)


class BoardPart(TeacherHandler):
    """The part of the page that changes; its script asks for it."""

    async def get(self) -> None:
        self.show("board.html.j2", **await boards(self))


class OpenReading(TeacherHandler):
    """Opens or closes the answers on the pages without JavaScript."""

    async def post(self) -> None:
        demand_own_form(self)
        await self.stored(
            server().store.decide, name=READING, value=self.get_body_argument("open", "") == "1"
        )
        self.redirect(f"../teach?{self.request.query}", status=303)


class Export(TeacherHandler):
    """Everything locked in the time looked at, as a file."""

    async def get(self, kind: str) -> None:
        predictions = await self.stored(server().store.predictions, since=self.since)
        make, mime = {"csv": (as_csv, "text/csv"), "json": (as_json, "application/json")}[kind]
        body = await asyncio.to_thread(make, predictions, self.classroom.judge)
        self.set_header("Content-Type", f"{mime}; charset=utf-8")
        self.set_header("Content-Disposition", f'attachment; filename="predictions.{kind}"')
        self.write(body)


async def boards(handler: TeacherHandler) -> dict[str, Any]:
    """What the templates of the board need: the exercise looked at, and which others there are."""
    store, since = server().store, handler.since
    steps = await handler.stored(store.first_attempts, since=since)
    predictions = await handler.stored(store.predictions, since=since)
    show = handler.get_query_argument("show", "") == "1"
    asked = handler.get_query_argument("exercise", "")
    shown = await asyncio.to_thread(
        _shown, handler.classroom.judge, asked, predictions, steps, language_of(handler), show
    )
    return shown | {"hours": handler.hours, "all_hours": HOURS, "show": show}


def _shown(
    judge: Judge,
    asked: str,
    predictions: list[Prediction],
    steps: dict[str, dict[str, int]],
    language: str,
    show: bool,
) -> dict[str, Any]:
    """The board of the exercise that was asked for, and every exercise with how many have locked."""
    learners: dict[str, set[str]] = {name: set() for name in steps}
    for one in predictions:
        learners.setdefault(one.place.exercise, set()).add(one.place.learner)
    names = sorted(learners) or [MAIN]
    name = asked if asked in names else names[0]
    own = [one for one in predictions if one.place.exercise == name]
    words = class_words(language)
    board = board_of(name, own, steps.get(name, {}), judge, words, language=language, show=show)
    counts = [(one, title_of(one, language), len(learners.get(one, ()))) for one in names]
    return {"board": board, "counts": counts}
