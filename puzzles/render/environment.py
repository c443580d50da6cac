"""The templates, with everything escaped, and the stylesheet."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from puzzles.judging import shown
from puzzles.render.helpers import boxes, kinds, measured, signed, slots, spoken
from puzzles.words import run_name

HERE = Path(__file__).parent
HELPERS = (boxes, kinds, measured, run_name, shown, signed, slots, spoken)


@cache
def environment() -> Environment:
    """The templates of this room. A blank that nobody fills is an error."""
    found = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.globals.update({helper.__name__: helper for helper in HELPERS})
    return found


def table_styles() -> str:
    """The rules the tables need; they expect the variables of ``style.css`` on the root."""
    return (HERE / "tables.css").read_text("utf-8")


def page_styles() -> str:
    """The whole stylesheet of the static pages."""
    return (HERE / "style.css").read_text("utf-8") + "\n" + table_styles()
