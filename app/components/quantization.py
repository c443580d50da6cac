"""fp32 | int8 | int4: nothing until the learner asks, then two figures and their tables."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, ClassVar

import msgspec
import param
from bokeh.embed import json_item

from app.components.base import LabComponent
from app.components.quantization_figures import Comparison, quantization_figures
from app.components.quantization_table import Milliseconds, figure_tables, quantization_tables


class Quantization(LabComponent):
    """A button, and after ``show(comparison)`` what fewer bits cost.

    ``asked`` is triggered by the button; answer with ``show``, or with a sentence in ``problem``. The
    figures live in the browser alone: nothing that happens to them is sent to the server.
    """

    figures = param.String(default="", doc="The curves as JSON of Bokeh documents, made by ``show``.")

    figure_tables = param.List(default=[], item_type=str, doc="HTML of the numbers of each curve.")

    table = param.String(default="", doc="HTML of the tables beside the curves.")

    enabled = param.Boolean(default=False, doc="Whether the learner may ask: the prediction is locked.")

    problem = param.String(default="", doc="A sentence when there is nothing to show; empty: all is well.")

    asked = param.Event(doc="The learner wants to see the comparison.")

    _bundle = "quantization.js"
    _section: ClassVar[str] = "quantization"
    _rename: ClassVar[dict[str, str | None]] = {"asked": None}

    def show(  # type: ignore[override]
        self, comparison: Comparison, ms: Milliseconds | None = None
    ) -> None:
        """Show ``comparison`` (engine's, as plain values) and the milliseconds per tick by format."""
        self.param.update(
            problem="",
            table=quantization_tables(comparison, self.language, ms),
            figure_tables=figure_tables(comparison, self.language),
            figures=_figures(msgspec.msgpack.encode(comparison), self.language),
        )

    def _handle_msg(self, data: Any) -> None:
        """The button, once the run is open."""
        if self.enabled and isinstance(data, dict) and data.get("type") == "show":
            self.param.trigger("asked")


@lru_cache(maxsize=64)
def _figures(comparison: bytes, language: str) -> str:
    """The curves of a comparison, made once for all who compare the same in that language."""
    return figures_json(quantization_figures(msgspec.msgpack.decode(comparison), language))


def figures_json(figures: Iterable[Any]) -> str:
    """Figures as the browser's Bokeh embeds them."""
    return json.dumps([json_item(figure) for figure in figures])
