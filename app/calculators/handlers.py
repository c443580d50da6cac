"""The address of the calculators."""

from __future__ import annotations

from tornado.web import RequestHandler

from app.calculators.page import calculators_page
from app.web.answers import compress_answers
from app.web.identity import language_of, recognise
from app.web.policy import POLICY, page_policy

MOST = 40  # fields of an address that are looked at


class Calculators(RequestHandler):
    """The page, from the fields of the address. It keeps nothing, and makes no session."""

    async def prepare(self) -> None:
        compress_answers(self.application)

    def get(self) -> None:
        recognise(self)
        names = list(self.request.query_arguments)[:MOST]
        values = {name: self.request.query_arguments[name][-1] for name in names}
        typed = {name: value.decode("utf-8", "replace") for name, value in values.items()}
        self.set_header(POLICY, page_policy())
        self.set_header("Cache-Control", "no-store")
        self.write(calculators_page(language_of(self), typed))
