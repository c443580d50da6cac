"""Who a browser is: a random name of its own, kept in a cookie, known to nobody else."""

from __future__ import annotations

import re
import secrets
from http.cookies import Morsel

from tornado.web import RequestHandler

from app.words import choose_language, first_argument
from engine.words import LANGUAGES

LEARNER = "ticklab_learner"
LANGUAGE = "ticklab_language"
YEAR = 365  # days
_NAME = re.compile(r"[0-9a-f]{32}")


def new_learner() -> str:
    """A name that cannot be guessed: 128 random bits."""
    return secrets.token_hex(16)


def known_learner(value: object) -> str | None:
    """``value`` if it has the form of a learner's name."""
    return value if isinstance(value, str) and _NAME.fullmatch(value) else None


def recognise(handler: RequestHandler) -> None:
    """Give a new browser its name, and keep the language it asks for.

    Sets cookies on the answer and on the request itself, so that the session made from this very
    request knows them already.
    """
    name = known_learner(handler.get_cookie(LEARNER)) or new_learner()
    _keep(handler, LEARNER, name)
    asked = first_argument(handler.request.query_arguments, "lang")
    if asked in LANGUAGES:
        _keep(handler, LANGUAGE, asked)


def learner_of(handler: RequestHandler) -> str | None:
    """The name this browser has, None for a stranger."""
    return known_learner(handler.get_cookie(LEARNER))


def rename(handler: RequestHandler) -> str:
    """Give this browser a new name: from now on it is another learner."""
    name = new_learner()
    _keep(handler, LEARNER, name)
    return name


def _keep(handler: RequestHandler, name: str, value: str) -> None:
    if handler.get_cookie(name) == value and name != LEARNER:
        return
    morsel: Morsel[str] = Morsel()
    morsel.set(name, value, value)
    handler.request.cookies[name] = morsel
    secure = handler.request.protocol == "https"
    handler.set_cookie(name, value, expires_days=YEAR, httponly=True, samesite="Lax", secure=secure)


def language_of(handler: RequestHandler) -> str:
    """The language of whoever sent this request."""
    asked = first_argument(handler.request.query_arguments, "lang")
    return choose_language(
        asked, handler.get_cookie(LANGUAGE), handler.request.headers.get("Accept-Language")
    )
