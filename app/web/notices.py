"""Pages that say why there is nothing to see: in words, in the visitor's language, without a trace of how."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tornado.web import RequestHandler

from app.web.identity import language_of
from app.web.policy import POLICY, page_policy
from engine.words import Catalogue, catalogue

SAID = (403, 404, 405, 413, 421, 429, 503)


def web_words(language: str) -> Catalogue:
    """The texts of this folder in ``language``. Raises KeyError for an unknown language."""
    return catalogue(Path(__file__).parent, language)


class Notice(RequestHandler):
    """Answers every request with the same notice."""

    def initialize(self, status: int = 404) -> None:
        self._status = status

    def prepare(self) -> None:
        notify(self, self._status)
        self.finish()


def notify(handler: RequestHandler, status: int, *, again: int | None = None) -> None:
    """Write the notice of ``status``; the page asks again by itself after ``again`` seconds."""
    from app.pages.template import frame, template

    language = language_of(handler)
    key = status if status in SAID else 500
    handler.set_status(status)
    handler.set_header("Content-Type", "text/html; charset=utf-8")
    handler.set_header("Cache-Control", "no-store")
    handler.set_header(POLICY, page_policy())
    if again is not None:
        handler.set_header("Retry-After", str(again))
    page = template("notice.html.j2").render(
        **frame(language, root=root_of(handler)), notice=key, said=web_words(language), again=again
    )
    handler.write(page)


def root_of(handler: RequestHandler) -> str:
    """From the address of this request to the root of the lab, as a relative address."""
    prefix: Any = getattr(handler.application, "prefix", "")
    return "../" * (handler.request.path.removeprefix(prefix).count("/") - 1) or "./"
