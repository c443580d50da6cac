"""What a learner hands in: a design, its limits, what they expect of it, and what they would measure."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import msgspec

from puzzles.design.fields import BY_NAME, FIELDS, LONGEST, SETTINGS, Problem, parsed, tidy

__all__ = ["FIELDS", "Plan", "Problem", "plan_of", "read"]


class Plan(msgspec.Struct, frozen=True):
    """``settings`` of the service by name; limits and times in seconds, rates per second.

    What was not said is None, or nothing.
    """

    settings: dict[str, Any]
    slo_ttft: Decimal
    slo_tpot: Decimal
    expect_time: Decimal | None = None
    expect_inside: Decimal | None = None
    expect_goodput: Decimal | None = None
    expect_rank: int | None = None
    expect_pays: str | None = None
    variables: tuple[str, ...] = ()

    @property
    def limits(self) -> dict[str, Decimal]:
        return {"slo_ttft": self.slo_ttft, "slo_tpot": self.slo_tpot}


def read(raw: Mapping[str, str], *, required: bool) -> tuple[dict[str, str], dict[str, Problem]]:
    """The texts in ``raw`` that are values, tidied and with defaults; and the problems, by field.

    What has no default is a problem when it is empty and ``required``.
    """
    texts: dict[str, str] = {}
    problems = {
        name: Problem("problem.field", {"text": name[:LONGEST]}) for name in raw if name not in BY_NAME
    }
    for field in FIELDS:
        text = tidy(raw.get(field.name) or "") or field.default
        found = Problem("problem.missing") if text is None else parsed(field, text)
        if not isinstance(found, Problem):
            assert text is not None
            texts[field.name] = text
        elif required or text is not None:
            problems[field.name] = found
    return texts, problems


def plan_of(texts: Mapping[str, str]) -> Plan:
    """The plan of texts that ``read`` has passed; the two limits must be there."""
    values = {name: parsed(BY_NAME[name], text) for name, text in texts.items()}
    settings = {name: values.pop(name) for name in SETTINGS if name in values}
    return Plan(settings=settings, **values)
