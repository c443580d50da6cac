"""Sheets for tests of free play."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from app.play.jobs import work
from app.play.presets import main_table
from app.play.sheet import Setup, Sheet
from app.play.spec import Job, News

EVIL = "<img src=x onerror=alert(1)>"
SCRIPT = "<script>alert(1)</script>"


def setup(trace: str | None = None, name: str = "", title: str = "", **settings: str) -> Setup:
    """R01–R04 unless another trace is given."""
    return Setup(main_table() if trace is None else trace, name, title, settings)


def sheet(trace: str | None = None, *, of: dict[str, Any] | None = None, **settings: str) -> Sheet:
    """A sheet of ``setup``; ``of`` are the other fields."""
    return Sheet(setup=setup(trace, **settings), **(of or {}))


def rows(lines: Iterable[tuple[object, ...]]) -> str:
    """A trace of the lab's own columns."""
    return "\n".join(["id,arrival,prompt_tokens,output_tokens", *(",".join(map(str, one)) for one in lines)])


def ticks(count: int) -> str:
    """A trace whose runs last ``count`` ticks under every policy."""
    return rows([("R01", 0, 1, count)])


def endless() -> Sheet:
    """A million ticks in each of which two requests want one slot, so that every tick is planned."""
    trace = rows([("A", 0, 1, 500_000), ("B", 0, 1, 500_000)])
    return sheet(trace, pages="none", page_size="1000000", decode_slots="1", decode_order="round_robin")


def news(kind: Any, of: Sheet, language: str = "en") -> list[News]:
    """All news of a job, done here and now."""
    return list(work(Job(kind, of, language)))


def only(kind: type, found: Iterable[News]) -> Any:
    """The one of that kind."""
    (one,) = [news for news in found if isinstance(news, kind)]
    return one
