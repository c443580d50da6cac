"""What a browser may say over its websocket. Bokeh would let it set any property of any model.

A component names in ``_from_browser`` what its script may write, with the type of it; whoever has a
``_handle_msg`` may be sent messages. All else is left out of the message before Bokeh sees it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import msgspec
from bokeh.document import Document
from panel.custom import ReactiveESM
from panel.models.esm import ReactiveESM as Component

KINDS = ("PULL-DOC-REQ", "PATCH-DOC", "SERVER-INFO-REQ")
DEEPEST = 12  # levels of a value
PLAIN = (str, int, float, bool, type(None))


def allowed(content: dict[str, Any], document: Document, refuse: Callable[[str], None]) -> dict[str, Any]:
    """The content of a PATCH-DOC without the events that a browser may not send.

    ``refuse`` is told of each that was left out. Changes nothing.
    """
    events = content.get("events") if isinstance(content, dict) else None
    if not isinstance(events, list):
        refuse("a patch without events")
        return {"events": []}
    kept = []
    for event in events:
        problem = _problem(event, document)
        if problem is None:
            kept.append(event)
        else:
            refuse(problem)
    return {"events": kept}


def _problem(event: Any, document: Document) -> str | None:
    """Why the event is left out, None when it may pass."""
    match event:
        case {"kind": "ModelChanged", "model": {"id": str(model)}, "attr": str(name), "new": value}:
            return _change(document, model, name, value)
        case {"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": dict(sent)}:
            return _message(document, sent)
    return f"an event of kind {_short(event.get('kind') if isinstance(event, dict) else event)}"


def _change(document: Document, model: str, name: str, value: Any) -> str | None:
    component = next((one for one in _components(document) if one.data.id == model), None)
    owner = component_class(component.class_name) if component else None
    kind = getattr(owner, "_from_browser", {}).get(name)
    where = f"{owner.__name__ if owner else 'a model'}.{_short(name)}"
    if kind is None:
        return f"a change of {where}"
    try:
        msgspec.convert(plain(value), kind, strict=True)
    except (ValueError, msgspec.ValidationError):
        return f"a change of {where} to something it cannot be"
    return None


def _message(document: Document, sent: dict[str, Any]) -> str | None:
    if sent.get("name") == "document_ready":
        return None
    try:
        values = plain(sent.get("values"), references=True)
    except ValueError:
        return "a message that is not plain"
    if sent.get("name") != "data_event" or not isinstance(values, dict):
        return f"a message named {_short(sent.get('name'))}"
    model = values.get("model")
    target = next((one for one in _components(document) if {"id": one.id} == model), None)
    owner = component_class(target.class_name) if target else None
    if owner is None or owner._handle_msg is ReactiveESM._handle_msg:
        return f"a message to {owner.__name__ if owner else 'nobody'}"
    return None


def plain(value: Any, *, references: bool = False, depth: int = 0) -> Any:
    """A value of Bokeh's protocol as plain Python. Raises ValueError for models, arrays and depths."""
    if isinstance(value, PLAIN):
        return value
    if depth > DEEPEST:
        raise ValueError("too deep")
    if isinstance(value, list):
        return [plain(one, depth=depth + 1) for one in value]
    match value:
        case {"type": "map"} if len(value) == 1:  # how BokehJS writes {}: nothing typed, or all of it deleted
            return {}
        case {"type": "map", "entries": list(entries)} if len(value) == 2:
            return {_key(k): plain(v, references=references, depth=depth + 1) for k, v in _pairs(entries)}
        case {"id": str()} if references and len(value) == 1:
            return value
        case {"type": "number", "value": str(number)} if len(value) == 2:
            return float(number)
    raise ValueError("not plain")


def _pairs(entries: list[Any]) -> Iterator[tuple[Any, Any]]:
    for entry in entries:
        if not isinstance(entry, list) or len(entry) != 2:
            raise ValueError("no entry of a map")
        yield entry[0], entry[1]


def _key(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("no key")
    return value


def _components(document: Document) -> Iterator[Any]:
    return (model for model in document.models if isinstance(model, Component))


@cache
def component_class(name: str) -> type[ReactiveESM] | None:
    """The class of components that Panel calls ``name``."""
    waiting = [ReactiveESM]
    while waiting:
        one = waiting.pop()
        if one.__name__ == name:
            return one
        waiting += one.__subclasses__()
    return None


def _short(value: Any) -> str:
    """For one line of the log, whatever it is."""
    return ascii(value)[:60]
