"""The prediction: a grid of numbers, a confidence, one line of why, and one lock for all of it."""

from __future__ import annotations

from typing import Any, ClassVar

import param

from app.components.base import LabComponent


class PredictionForm(LabComponent):
    """What the learner believes, before anything is shown.

    ``draft`` maps keys of ``fields`` to what was typed (a string, as typed), and ``confidence``
    ("1"…"4") and ``why`` beside them. Empty is absent, not zero. ``lock`` is triggered when the
    learner locks; ``draft`` is up to date then. Answer with ``locked = True`` or ``refuse(problems)``.
    """

    fields = param.List(
        default=[],
        item_type=dict,
        doc="""Questions in order: ``key``, ``part``, ``run``, ``policy`` and ``request`` (both given: a cell
        of the grid; else a question of its own), ``metric``, ``unit``, ``required``, ``choices`` (None, or
        ``value``/``label`` pairs), ``label`` (the question in words).""",
    )

    requests = param.List(
        default=[],
        item_type=str,
        doc="The ids of the trace in its order: a request has the same colour here as in every picture.",
    )

    parts = param.List(
        default=[], item_type=dict, doc="``name``, ``title`` and ``note`` of each part of ``fields``."
    )

    columns = param.Dict(
        default={},
        doc="Title of each run: the columns of the grid. Without one, the short title of the puzzle's texts.",
    )

    draft = param.Dict(default={}, doc="What is typed so far, by key; two ways.")

    problems = param.Dict(default={}, doc="A sentence per key whose answer cannot be locked.")

    locked = param.Boolean(default=False, doc="Locked: the answers are shown and cannot be changed.")

    held = param.String(default="", doc="Why nothing can be locked now, in a sentence; empty: it can.")

    final = param.String(default="", doc="What a lock means now, in a sentence; empty: that of the texts.")

    storage_id = param.String(
        default="", doc="Name of the browser's own copy: learner, exercise and attempt. Empty: no copy."
    )

    lock = param.Event(doc="The learner locks the answers in ``draft``.")

    _bundle = "prediction_form.js"
    _section: ClassVar[str] = "form"
    _puzzle_texts: ClassVar[tuple[tuple[str, str], ...]] = (("run.", ".short"), ("short.", ""))
    _from_browser: ClassVar[dict[str, Any]] = {"draft": dict[str, str]}
    _rename: ClassVar[dict[str, str | None]] = {"lock": None}

    def refuse(self, problems: dict[str, str], note: str = "") -> None:
        """The answers cannot be locked; a sentence per key says why, or ``note`` when none is wrong."""
        self.problems = problems
        self._send_msg({"type": "refused", "note": note})

    def _handle_msg(self, data: Any) -> None:
        """A lock with the answers it holds, or the draft once more after the connection was lost."""
        if self.locked or not isinstance(data, dict) or data.get("type") not in ("lock", "draft"):
            return
        self.draft = self._clean(data.get("draft"))
        if data["type"] == "lock":
            self.param.trigger("lock")

    def _clean(self, draft: Any) -> dict[str, str]:
        """What is text under a known key; all else is dropped."""
        known = {field["key"] for field in self.fields} | {"confidence", "why"}
        if not isinstance(draft, dict):
            return {}
        return {key: value for key, value in draft.items() if key in known and isinstance(value, str)}
