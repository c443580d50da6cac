"""The handlers behind the addresses of the lab."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from bokeh.server.session import ServerSession
from panel.io.server import DocHandler
from tornado.web import RequestHandler, StaticFileHandler

from app.server import server
from app.web.answers import compress_answers
from app.web.identity import language_of, recognise
from app.words import first_argument
from puzzles import names as exercises
from puzzles.render import table_styles

log = logging.getLogger(__name__)

READ = Path(__file__).parents[2] / "static"


class LearnerPage(DocHandler):
    """Panel's page handler that knows its browser and answers 500, in words, when the page fails."""

    session: ServerSession | None = None

    async def prepare(self) -> None:
        await super().prepare()  # type: ignore[no-untyped-call]
        recognise(self)
        compress_answers(self.application)

    async def get_session(self) -> ServerSession:  # type: ignore[override]
        self.session = await super().get_session()  # type: ignore[misc]
        return self.session

    async def get(self, *args: Any, **names: Any) -> None:
        asked = first_argument(self.request.query_arguments, "ex")
        if asked is not None and asked not in exercises():
            self._unknown(asked)
            return
        await super().get(*args, **names)  # type: ignore[misc]
        if self.session is not None and not is_built(self.session):
            self._apologise()

    def _unknown(self, asked: str) -> None:
        """Say that there is no such exercise, and which there are."""
        from app.pages.template import unknown_page

        self.set_status(404)
        self.set_header("Cache-Control", "no-store")
        self.write(unknown_page(language_of(self), asked))

    def _apologise(self) -> None:
        from app.pages.template import error_page

        self.clear()
        recognise(self)
        self.set_status(500)
        self.set_header("Cache-Control", "no-store")
        self.write(error_page(language_of(self)))


def is_built(session: ServerSession) -> bool:
    """Whether the page of this session was built to its end."""
    return bool(session.document.template_variables.get("built"))


class Health(RequestHandler):
    """200 when the database answers, 503 when not; the worker's state is told, not required."""

    async def get(self) -> None:
        healthy = await self._database()
        self.set_status(200 if healthy else 503)
        self.set_header("Cache-Control", "no-store")
        self.write({"database": healthy, "worker": server().worker.state if healthy else "unknown"})

    async def _database(self) -> bool:
        try:
            await server().stored(server().store.ping)
        except Exception as error:
            log.error("the database does not answer: %r", error)
            return False
        return True


class TableSheet(RequestHandler):
    """The style sheet of the tables that the static pages and the live page have in common."""

    def get(self) -> None:
        self.set_header("Content-Type", "text/css; charset=utf-8")
        self.set_header("Cache-Control", "max-age=31536000" if self.request.query else "no-cache")
        self.write(table_styles())


class Read(StaticFileHandler):
    """The pages without JavaScript."""

    def set_extra_headers(self, path: str) -> None:
        self.set_header("Cache-Control", "no-cache")


class ToRead(RequestHandler):
    """/read without its slash: relative links need it."""

    def get(self) -> None:
        self.redirect("read/")
