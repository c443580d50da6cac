"""The handlers behind the addresses of the lab."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bokeh.server.session import ServerSession
from panel.io.server import DocHandler
from tornado.web import HTTPError, RequestHandler, StaticFileHandler

from app.server import server
from app.settings import settings
from app.store import Shares, StoreError
from app.web.answers import compress_answers
from app.web.identity import language_of, recognise
from app.web.limits import limits
from app.web.notices import notify
from app.web.policy import POLICY, new_nonce, page_policy, reading_policy
from app.words import first_argument
from puzzles import names as exercises
from puzzles.render import table_styles

AGAIN = 5  # seconds after which a page that was refused asks again
READ = Path(__file__).parents[2] / "static"


class LearnerPage(DocHandler):
    """Panel's page handler that knows its browser and answers 500, in words, when the page fails."""

    session: ServerSession | None = None

    async def prepare(self) -> None:
        path, url = self.request.path, self.application_context.url or "/"
        if path.endswith("/") and url != "/":  # its links are relative to the address without the slash
            self.redirect(path.rstrip("/") + (f"?{self.request.query}" if self.request.query else ""))
            return
        await super().prepare()  # type: ignore[no-untyped-call]
        recognise(self)
        compress_answers(self.application)

    async def get_session(self) -> ServerSession:  # type: ignore[override]
        self.session = await super().get_session()  # type: ignore[misc]
        nonce = new_nonce()
        self.session.document.template_variables["nonce"] = nonce
        self.set_header(POLICY, page_policy(nonce))
        return self.session

    async def get(self, *args: Any, **names: Any) -> None:
        if self._is_too_much():
            return
        asked = first_argument(self.request.query_arguments, "ex")
        if asked is not None and asked not in exercises():
            self._unknown(asked)
            return
        if "play" in self.request.query_arguments and (wrong := await self._no_free_play()):
            self._tell(wrong)
            return
        await super().get(*args, **names)  # type: ignore[misc]
        if self.session is not None and not is_built(self.session):
            self._apologise()

    def _is_too_much(self) -> bool:
        """Whether no page can be made now; then a notice is, which asks again by itself."""
        wait = limits().opening.refuse(str(self.request.remote_ip))
        full = len(list(self.application_context.sessions)) >= settings().most_sessions
        if wait or full:
            notify(self, 429 if wait else 503, again=max(AGAIN, round(wait)))
        return bool(wait or full)

    def write_error(self, status_code: int, **names: Any) -> None:
        notify(self, status_code)
        self.finish()

    async def _no_free_play(self) -> str | None:
        """Why free play is not shown: it is closed, or there is no such link; None when it is."""
        if not settings().free_play:
            return "play.closed"
        code = first_argument(self.request.query_arguments, "play")
        if code is None:
            return None
        content = await server().stored(Shares(server().store).find, code)
        return "play.unknown" if content is None else None

    def _tell(self, key: str) -> None:
        """Say in a page of its own why there is not what was asked for."""
        from app.pages.template import message_page

        self.set_status(404)
        self.set_header(POLICY, page_policy())
        self.set_header("Cache-Control", "no-store")
        self.write(message_page(language_of(self), key))

    def _unknown(self, asked: str) -> None:
        """Say that there is no such exercise, and which there are."""
        from app.pages.template import unknown_page

        self.set_status(404)
        self.set_header(POLICY, page_policy())
        self.set_header("Cache-Control", "no-store")
        self.write(unknown_page(language_of(self), asked))

    def _apologise(self) -> None:
        from app.pages.template import error_page

        self.clear()
        recognise(self)
        self.set_status(500)
        self.set_header(POLICY, page_policy())
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
        except StoreError:  # the log has it already
            return False
        return True


class Alive(RequestHandler):
    """Answers whoever looks for the server, at once: open pages ask every few seconds."""

    def get(self) -> None:
        self.set_status(204)
        self.set_header("Cache-Control", "no-store")


class TableSheet(RequestHandler):
    """The style sheet of the tables that the static pages and the live page have in common."""

    def get(self) -> None:
        self.set_header("Content-Type", "text/css; charset=utf-8")
        self.set_header("Cache-Control", "max-age=31536000" if self.request.query else "no-cache")
        self.write(table_styles())


class Read(StaticFileHandler):
    """The pages without JavaScript."""

    def set_default_headers(self) -> None:
        self.set_header(POLICY, reading_policy())

    def set_extra_headers(self, path: str) -> None:
        self.set_header("Cache-Control", "no-cache")

    def write_error(self, status_code: int, **names: Any) -> None:
        notify(self, status_code)
        self.finish()


class Icon(RequestHandler):
    """The icon; Bokeh has it at the very root only."""

    def get(self) -> None:
        icon: bytes | None = getattr(self.application, "icon", None)
        if icon is None:
            raise HTTPError(404)
        self.set_header("Content-Type", "image/x-icon")
        self.set_header("Cache-Control", "max-age=86400")
        self.write(icon)


class ToRoot(RequestHandler):
    """The prefix of the lab without its slash."""

    def get(self) -> None:
        self.redirect(f"{self.request.path}/")


class ToRead(RequestHandler):
    """/read without its slash: relative links need it."""

    def get(self) -> None:
        self.redirect("read/")
