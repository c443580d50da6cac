"""What everybody may ask a class: the way in, the lab behind it, health."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any

from tornado.httputil import HTTPServerRequest
from tornado.web import HTTPError, RequestHandler

from app.calculators.handlers import Calculators
from app.classroom.classroom import Classroom
from app.classroom.gate import JOINED
from app.classroom.joining import call, current_class, exercise_now, is_inside, join, member_of
from app.classroom.pages import ClassHandler, picture_of
from app.designing.handlers import DesignPage
from app.server import server
from app.store import StoreError
from app.web.forms import demand_own_form
from app.web.handlers import Health, LearnerPage, is_built
from app.web.identity import recognise
from app.web.policy import framers

log = logging.getLogger(__name__)

LOOK = 0.02  # seconds: how late a sleep of this length ends is the lag of the loop
MOST_TYPED = 32  # signs of a wrong code that are shown again
FRESH = 10.0  # seconds for which a page that was built proves that pages can be built


class Landing(ClassHandler):
    """The way in: the code of the class, a nickname for who likes, the link to the lab. Makes no session."""

    def frame_ancestors(self) -> str:
        return framers()

    async def get(self) -> None:
        recognise(self)
        typed = self.get_query_argument("code", "")
        if typed and not await is_inside(self) and self._tried(typed) and await join(self):
            self.redirect(self.request.path, status=303)
            return
        await self._show(wrong=bool(typed) and self.get_status() == 403)

    head = get

    async def post(self) -> None:
        """Keep the nickname, and go in: to where the class is."""
        demand_own_form(self)
        if not await is_inside(self):
            raise HTTPError(403)
        await call(self, self.get_body_argument("nickname", ""))
        name = await exercise_now()
        self.redirect(f"app?ex={name}" if name else "app", status=303)

    async def _show(self, *, wrong: bool) -> None:
        member = await member_of(self)
        inside = await is_inside(self)
        self.show(
            "landing.html.j2",
            inside=inside,
            over=await current_class() is None,
            wrong=wrong,
            typed=self.get_query_argument("code", "")[:MOST_TYPED] if wrong else "",
            nickname=(member.nickname if member else None) or "",
            picture=picture_of(self.classroom) if inside else "",
        )

    def _tried(self, typed: str) -> bool:
        """Whether the code fits; then this browser is in."""
        patience, address = self.classroom.patience, str(self.request.remote_ip)
        if patience.is_over(address):
            raise HTTPError(429)
        if not self.classroom.gate.fits(JOINED, typed):
            patience.wrong(address)
            self.set_status(403)
            return False
        self.classroom.gate.admit(self, JOINED)
        server().counts.add("joined")
        return True


class JoinedPage(LearnerPage):
    """The learner's page for those who joined; others are sent to the way in."""

    classroom: Classroom

    async def prepare(self) -> None:
        try:
            inside = await is_inside(self)
        except StoreError:  # the log has it already
            self._apologise()
            self.finish()
            return
        if not inside:
            self.redirect(f"{self.application.prefix}/")
            return
        await super().prepare()


class OnlyInside(RequestHandler):
    """To be put before a page: it is for those who joined; others are sent to the way in."""

    classroom: Classroom

    def initialize(self, classroom: Classroom) -> None:
        self.classroom = classroom

    async def prepare(self) -> None:
        if not await is_inside(self):
            self.redirect("../", status=303)
            return
        answer = super().prepare()
        if answer is not None:
            await answer


class JoinedDesign(OnlyInside, DesignPage):
    """The transfer task for those who joined."""


class JoinedCalculators(OnlyInside, Calculators):
    """The calculators for those who joined."""


class ClassHealth(Health):
    """Health, and how late the server's loop is."""

    lag = 0.0

    async def get(self) -> None:
        began = time.perf_counter()
        await asyncio.sleep(LOOK)
        self.lag = max(0.0, time.perf_counter() - began - LOOK)
        await super().get()

    def write(self, chunk: Any) -> None:
        if isinstance(chunk, dict):
            chunk = {**chunk, "loop_lag_ms": round(self.lag * 1000, 1)}
        super().write(chunk)


class Ready(LearnerPage):
    """200 when a learner's page can be built, proved by building one; 503 when not."""

    _proved = float("-inf")

    def __init__(self, application: Any, request: HTTPServerRequest, **names: Any) -> None:
        context = next(iter(application.applications.values()))
        own = {"application_context": context, "bokeh_websocket_path": f"{context.url}/ws"}
        super().__init__(application, request, **own)

    async def get(self, *args: Any, **names: Any) -> None:
        ready = time.monotonic() - Ready._proved < FRESH or await self._try()
        self.set_status(200 if ready else 503)
        self.set_header("Cache-Control", "no-store")
        self.write({"page": ready})

    async def _try(self) -> bool:
        try:
            session = await self.get_session()
        except Exception as error:
            log.error("no page can be built: %r", error)
            return False
        session.request_expiration()
        if is_built(session):
            Ready._proved = time.monotonic()
        return is_built(session)
