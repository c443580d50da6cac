"""The addresses of the transfer task: one page that grows, and the forms on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tornado.web import HTTPError, RequestHandler, StaticFileHandler

from app.designing.bench import Busy, bench
from app.designing.content import content
from app.designing.visit import Visit, again, keep, lock, look, observe, ran
from app.designing.words import page_words
from app.pages.template import frame, template
from app.server import server
from app.store import STEPS
from app.web.answers import compress_answers
from app.web.forms import demand_own_form
from app.web.identity import LEARNER, known_learner, language_of, recognise
from app.web.policy import POLICY, page_policy
from puzzles.design import FIELDS
from puzzles.design.words import design_words

FILES = Path(__file__).parent / "files"
PLACES = {"check": "#check", "lock": "#run-part", "run": "#observe-part", "observe": "#verdict-part"}


class DesignPage(RequestHandler):
    """The page. A form is answered by sending the browser to it again, so that a reload sends nothing."""

    def set_default_headers(self) -> None:
        self.set_header(POLICY, page_policy())
        self.set_header("Cache-Control", "no-store")

    async def prepare(self) -> None:
        compress_answers(self.application)
        if self.request.method == "POST":
            demand_own_form(self)
        recognise(self)

    async def get(self) -> None:
        visit = await self._visit()
        flags = {name: self.get_query_argument(name, "") == "1" for name in ("checked", "unread")}
        language = language_of(self)
        try:
            shown = await bench().call(content, visit, language, **flags)
        except Busy as error:
            raise HTTPError(503) from error
        self.write(self._page("design.html.j2", steps=STEPS, step=visit.step, **shown))

    async def post(self) -> None:
        """One of the buttons. What another tab has done meanwhile counts, and nothing is done twice."""
        visit = await self._visit()
        wanted, note = self.get_body_argument("do", ""), ""
        if self.get_body_argument("attempt", "") == str(visit.place.attempt):
            note = await self._do(wanted, visit)
        self.redirect(f"design{note}{PLACES.get(wanted, '') if note != CHECKED else '#check'}", status=303)

    async def _do(self, wanted: str, visit: Visit) -> str:
        """Carry it out; what the page shall say besides, as the query of its address."""
        if wanted == "check":
            await self._stored(keep, visit, self._typed())
            return CHECKED
        if wanted == "lock":
            done = await self._stored(lock, visit, self._typed())
            return "" if done else CHECKED
        if wanted == "observe":
            done = await self._stored(observe, visit, self.get_body_argument("observed", ""))
            return "" if done else UNREAD
        if wanted in PLAIN:
            await self._stored(PLAIN[wanted], visit)
        return ""

    def _typed(self) -> dict[str, str]:
        """The fields of the form; the ticked variables are one of them."""
        names = (*(field.name for field in FIELDS), "confidence", "why")
        typed = {name: self.get_body_argument(name, "") for name in names}
        return typed | {"variables": ",".join(self.get_body_arguments("variables"))}

    async def _visit(self) -> Visit:
        learner = known_learner(self.get_cookie(LEARNER))
        assert learner is not None  # ``recognise`` has given one
        found: Visit = await self._stored(look, learner)
        return found

    async def _stored(self, call: Any, *args: Any) -> Any:
        """A call that reads or writes the store. 503 when it cannot be reached."""
        try:
            return await server().stored(call, server(), *args)
        except ConnectionError as error:
            raise HTTPError(503) from error

    def _page(self, name: str, **values: Any) -> str:
        language = language_of(self)
        own = {"say": design_words(language), "tell": page_words(language)}
        return template(name).render(**frame(language, "design", "../"), **(own | values))

    def write_error(self, status_code: int, **names: Any) -> None:
        """What happened, in the visitor's language, without a trace of how."""
        tell = page_words(language_of(self))
        key = f"error.{status_code}" if f"error.{status_code}" in tell else "error.500"
        self.finish(self._page("design_error.html.j2", text=tell(key)))


CHECKED, UNREAD = "?checked=1", "?unread=1"
PLAIN = {"run": ran, "again": again}


class DesignFiles(StaticFileHandler):
    """The style sheet of the page."""

    def set_extra_headers(self, path: str) -> None:
        self.set_header("Cache-Control", "no-cache")
        self.set_header("X-Content-Type-Options", "nosniff")


ROUTES: list[Any] = [
    (r"/lab/design", DesignPage),
    (r"/lab/design/(.*)", DesignFiles, {"path": str(FILES)}),
]
