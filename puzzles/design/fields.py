"""What may be typed into a design and an expectation: the fields, in order, and their values."""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal
from typing import Any

import msgspec

from engine.words import Catalogue
from puzzles.design.variables import VARIABLES

SHOWN = 20  # characters of a wrong text that its sentence repeats
LONGEST = 40  # characters: more is no number
WHOLE = re.compile(r"[0-9]{1,6}")
NUMBER = re.compile(r"(?:[0-9]{1,6}(?:\.[0-9]{0,6})?|\.[0-9]{1,6})")


class Problem(msgspec.Struct, frozen=True):
    """Why a text is no value: a key of the catalogue, and the values of its blanks."""

    key: str
    values: dict[str, str] = {}

    def sentence(self, say: Catalogue) -> str:
        """The problem in words, one sentence."""
        return say(self.key, **self.values)


class Field(msgspec.Struct, frozen=True):
    """``kind`` is choice, whole, limit (a whole number or none), number (above 0), wait (0 or more) or
    several (of ``choices``). ``default`` is the text that stands for an empty one; None: it is asked for.
    """

    name: str
    kind: str
    group: str
    choices: tuple[str, ...] = ()
    default: str | None = None
    most: int = 1000
    unit: str = ""


FIELDS = (
    Field("policy", "choice", "door", ("immediate", "static", "continuous"), "continuous"),
    Field("batch_size", "whole", "door", default="3", most=100, unit="requests"),
    Field("max_wait", "wait", "door", default="0", most=60, unit="s"),
    Field("max_active", "limit", "door", default="none", most=100, unit="requests"),
    Field("queue_order", "choice", "door", ("fcfs", "shortest"), "fcfs"),
    Field("max_skip", "limit", "door", default="none", unit="times"),
    Field("kv_reserve", "choice", "inside", ("full", "on_demand"), "full"),
    Field("chunked_prefill", "choice", "inside", ("true", "false"), "true"),
    Field("decode_order", "choice", "inside", ("fcfs", "round_robin", "shortest"), "fcfs"),
    Field("slo_ttft", "number", "slo", unit="s"),
    Field("slo_tpot", "number", "slo", unit="s"),
    Field("expect_time", "number", "little", unit="s"),
    Field("expect_inside", "number", "little", unit="requests"),
    Field("expect_goodput", "wait", "expect", unit="req/s"),
    Field("expect_rank", "choice", "expect", ("1", "2", "3", "4")),
    Field("expect_pays", "choice", "expect", ("short", "long", "same")),
    Field("variables", "several", "variables", tuple(VARIABLES)),
)
BY_NAME = {field.name: field for field in FIELDS}
SETTINGS = tuple(field.name for field in FIELDS if field.group in ("door", "inside"))
GROUPS = ("door", "inside", "slo", "little", "expect", "variables")


def tidy(text: str) -> str:
    """Full-width digits as plain ones, without spaces at the ends."""
    return unicodedata.normalize("NFKC", text).strip()


def value_of(name: str, text: str) -> Any:
    """The value of a text that is known to be one."""
    found = parsed(BY_NAME[name], text)
    assert not isinstance(found, Problem), found
    return found


def parsed(field: Field, text: str) -> Any:
    """The value, or a Problem."""
    return PARSERS[field.kind](field, text)


def _choice(field: Field, text: str) -> Any:
    if text not in field.choices:
        return _problem("choice", text, choices=", ".join(field.choices))
    if field.name == "expect_rank":
        return int(text)
    return {"true": True, "false": False}.get(text, text)


def _whole(field: Field, text: str) -> int | Problem:
    if WHOLE.fullmatch(text) and 1 <= int(text) <= field.most:
        return int(text)
    return _problem("whole", text, most=str(field.most))


def _limit(field: Field, text: str) -> int | Problem | None:
    if text == "none":
        return None
    found = _whole(field, text)
    return _problem("limit", text, most=str(field.most)) if isinstance(found, Problem) else found


def _number(field: Field, text: str) -> Decimal | Problem:
    if NUMBER.fullmatch(text) and 0 < Decimal(text) <= field.most:
        return Decimal(text)
    return _problem("number", text, most=str(field.most))


def _wait(field: Field, text: str) -> Decimal | Problem:
    if NUMBER.fullmatch(text) and Decimal(text) <= field.most:
        return Decimal(text)
    return _problem("wait", text, most=str(field.most))


def _several(field: Field, text: str) -> tuple[str, ...] | Problem:
    named = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    unknown = [name for name in named if name not in field.choices]
    if unknown:
        return _problem("choice", unknown[0], choices=", ".join(field.choices))
    return named if len(named) >= MOST_NAMED else _problem("several", text)


MOST_NAMED = 3  # how many variables have to be named at least
PARSERS = {
    "choice": _choice,
    "whole": _whole,
    "limit": _limit,
    "number": _number,
    "wait": _wait,
    "several": _several,
}


def _problem(key: str, text: str, **values: str) -> Problem:
    shown = text if len(text) <= SHOWN else text[:SHOWN] + "…"
    return Problem(f"problem.{key}", {"text": shown} | values)
