"""The timelines of the policies under one another, on one time axis."""

from __future__ import annotations

from typing import ClassVar

import param

from app.components.tabled import Tabled


class Timelines(Tabled):
    """Who did what in every tick up to the page's tick, with the learner's prediction as a flag.

    The runs come from ``Runs``; ``names`` chooses and orders them.
    """

    predictions = param.Dict(
        default={}, doc="Predicted TTFT in seconds: run name → request → number. Drawn as hollow flags."
    )

    expected = param.Integer(default=20, doc="Ticks on the axis while the runs are shorter.")

    flags = param.Boolean(
        default=True, doc="Whether anything is predicted here: then the legend explains it."
    )

    legend = param.Boolean(default=True, doc="Whether to explain the signs; one legend on a page is enough.")

    kind: ClassVar[str] = "timeline"
    _bundle = "timelines.js"
    _section: ClassVar[str] = "timelines"
    _puzzle_texts: ClassVar[tuple[tuple[str, str], ...]] = (("run.", ".short"), ("cell.", ""))
