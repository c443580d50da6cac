"""What the handlers of a class have in common, and those that everybody may ask."""

from __future__ import annotations

import asyncio
import logging
import time
from functools import cache
from pathlib import Path
from typing import Any

import segno
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from tornado.httputil import HTTPServerRequest
from tornado.web import HTTPError, RequestHandler, StaticFileHandler

from app.calculators.handlers import Calculators
from app.classroom.classroom import Classroom
from app.classroom.gate import JOINED
from app.classroom.words import class_words
from app.designing.handlers import DesignPage
from app.server import server
from app.web.handlers import Health, LearnerPage, compress_answers, is_built
from app.web.identity import language_of, recognise
from app.web.notices import root_of
from app.web.policy import POLICY, framers
from app.words import HTML_LANG, app_words
from engine.words import LANGUAGES

log = logging.getLogger(__name__)

HERE = Path(__file__).parent
ROOM_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors "
)
LOOK = 0.02  # seconds: how late a sleep of this length ends is the lag of the loop
FRESH = 10.0  # seconds for which a page that was built proves that pages can be built


@cache
def environment() -> Environment:
    """Templates of this room. Everything put in is escaped."""
    loader = FileSystemLoader(HERE / "templates")
    return Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )


def rendered(handler: RequestHandler, name: str, **values: Any) -> str:
    """A template with what all of them need, for whoever sent this request."""
    language = language_of(handler)
    return (
        environment()
        .get_template(name)
        .render(
            language=language,
            html_lang=HTML_LANG[language],
            words=class_words(language),
            root=root_of(handler),
            languages=[(one, HTML_LANG[one], app_words(one)("language.name")) for one in LANGUAGES],
            **values,
        )
    )


class ClassHandler(RequestHandler):
    """Answers with a page of this room; what goes wrong is said in words."""

    def initialize(self, classroom: Classroom) -> None:
        self.classroom = classroom

    def set_default_headers(self) -> None:
        self.set_header(POLICY, ROOM_POLICY + self.frame_ancestors())
        self.set_header("Cache-Control", "no-store")

    def frame_ancestors(self) -> str:
        """Who may show this page in a frame."""
        return "'none'"

    def prepare(self) -> None:
        compress_answers(self.application)

    def _request_summary(self) -> str:
        """For the log: without the query, where a code or a key may stand."""
        return f"{self.request.method} {self.request.path} ({self.request.remote_ip})"

    def show(self, name: str, **values: Any) -> None:
        """Answer with a page."""
        self.write(rendered(self, name, **values))

    def write_error(self, status_code: int, **names: Any) -> None:
        """What happened, in the visitor's language, without a trace of how."""
        words = class_words(language_of(self))
        key = f"error.{status_code}" if f"error.{status_code}" in words else "error.500"
        self.finish(rendered(self, "error.html.j2", text=words(key)))


class Landing(ClassHandler):
    """The way in: the code of the class, then the link to the lab. Makes no session."""

    def frame_ancestors(self) -> str:
        return framers()

    def get(self) -> None:
        recognise(self)
        typed = self.get_query_argument("code", "")
        inside = self.classroom.gate.admitted(self, JOINED)
        if typed and not inside:
            inside = self._tried(typed)
            if inside:
                self.redirect(self.request.path, status=303)
                return
        picture = picture_of(self.classroom) if inside else ""
        self.show("landing.html.j2", inside=inside, wrong=bool(typed) and not inside, picture=picture)

    head = get

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


def picture_of(classroom: Classroom) -> str:
    """The QR code of the address that others can reach. It holds the code, so only for those inside."""
    if not classroom.is_public:
        return ""
    code = segno.make(classroom.invitation, micro=False)
    return code.svg_inline(scale=5, dark="#000000", light="#ffffff")


class JoinedPage(LearnerPage):
    """The learner's page for those who joined; others are sent to the way in."""

    classroom: Classroom

    async def prepare(self) -> None:
        if not self.classroom.gate.admitted(self, JOINED):
            self.redirect(f"{self.application.prefix}/")
            return
        await super().prepare()


class JoinedDesign(DesignPage):
    """The transfer task for those who joined."""

    def initialize(self, classroom: Classroom) -> None:
        self.classroom = classroom

    async def prepare(self) -> None:
        if not self.classroom.gate.admitted(self, JOINED):
            self.redirect("../", status=303)
            return
        await super().prepare()


class JoinedCalculators(Calculators):
    """The calculators for those who joined."""

    def initialize(self, classroom: Classroom) -> None:
        self.classroom = classroom

    def prepare(self) -> None:
        if not self.classroom.gate.admitted(self, JOINED):
            self.redirect("../", status=303)
            return
        super().prepare()


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


class ClassFiles(StaticFileHandler):
    """The style sheet and the script of this room's pages."""

    def set_extra_headers(self, path: str) -> None:
        self.set_header("Cache-Control", "no-cache")
