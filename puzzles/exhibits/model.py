"""What an exhibit consists of, before it is printed."""

from __future__ import annotations

import msgspec

from puzzles.charts import Chart
from puzzles.quantization import Sheet


class Exhibit(msgspec.Struct, frozen=True):
    """Charts and tables, then ``points``: what they show, in sentences; ``notes`` say in small print where
    the figures come from, ``code`` names files of source that are printed on pages of their own.

    ``answers``: it tells what an exercise of its room asks, and stays closed until somebody opens it.
    """

    charts: tuple[Chart, ...] = ()
    sheets: tuple[Sheet, ...] = ()
    points: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    code: tuple[str, ...] = ()
    answers: bool = False
