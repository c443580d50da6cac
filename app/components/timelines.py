"""The timelines of the policies under one another, on one time axis."""

from __future__ import annotations

from typing import ClassVar

import param

from app.components.base import RunComponent


class Timelines(RunComponent):
    """Who did what in every tick up to the page's tick, with the learner's prediction as a flag.

    The runs come from ``Runs``; ``names`` chooses and orders them.
    """

    predictions = param.Dict(
        default={}, doc="Predicted TTFT in seconds: run name → request → number. Drawn as hollow flags."
    )

    expected = param.Integer(default=20, doc="Ticks on the axis while the runs are shorter.")

    legend = param.Boolean(default=True, doc="Whether to explain the signs; one legend on a page is enough.")

    tables = param.Dict(default={}, doc="HTML of “as a table” per run name; empty: made from the cells.")

    _bundle = "timelines.js"
    _section: ClassVar[str] = "timelines"
    _puzzle_texts: ClassVar[tuple[tuple[str, str], ...]] = (("run.", ".short"), ("cell.", ""))
