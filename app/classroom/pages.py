"""What the pages around a class have in common. Plain HTTP: nothing here needs Panel."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import segno
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from tornado.web import RequestHandler, StaticFileHandler

from app.classroom.classroom import Classroom
from app.classroom.words import class_words
from app.web.answers import compress_answers
from app.web.identity import language_of
from app.web.notices import root_of
from app.web.policy import POLICY
from app.words import HTML_LANG, app_words
from engine.words import LANGUAGES

HERE = Path(__file__).parent
ROOM_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors "
)


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
        self.set_header("X-Content-Type-Options", "nosniff")
        self.set_header("Referrer-Policy", "same-origin")
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


class Nothing(ClassHandler):
    """There is nothing at this address, in words; what was asked stays out of the log."""

    def prepare(self) -> None:
        self.send_error(404)


def picture_of(classroom: Classroom) -> str:
    """The QR code of the address that others can reach. It holds the code, so only for those inside."""
    if not classroom.is_public:
        return ""
    code = segno.make(classroom.invitation, micro=False)
    # Without a size it is drawn as large as its place, and never cut.
    return code.svg_inline(dark="#000000", light="#ffffff", omitsize=True)


class ClassFiles(StaticFileHandler):
    """The style sheet and the script of this room's pages."""

    def set_extra_headers(self, path: str) -> None:
        self.set_header("Cache-Control", "no-cache")
        self.set_header("X-Content-Type-Options", "nosniff")
