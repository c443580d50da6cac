"""What a browser may write: the drafts and the tick, as what they are, and nothing else of any model."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from panel.custom import JSComponent

import app.pages.learn
from app.web.incoming import component_class, plain
from tests.app.secrets import betrayed
from tests.app.socket_client import SocketClient, roots
from tests.serving import ROOT, Serving

WRITES = re.compile(r"\bmodel\.(\w+) = ")
PROBES = {"boolean": True, "text": "<img src=x onerror=alert(1)>", "number": 7, "list": [], "nothing": None}


def components() -> list[type[Any]]:
    """Our components that somebody can put on a page."""
    waiting, found = [JSComponent], []
    while waiting:
        one = waiting.pop()
        waiting += one.__subclasses__()
        if one.__module__.startswith("app.") and getattr(one, "_bundle", None):
            found.append(one)
    return found


def data_of(document: dict[str, Any], name: str) -> dict[str, Any]:
    return roots(document)[name]["attributes"]["data"]


async def document_of(client: SocketClient) -> dict[str, Any]:
    return (await client.ask("PULL-DOC-REQ", {}))["doc"]


def test_what_a_script_writes_is_what_its_component_allows() -> None:
    assert app.pages.learn
    assert len(components()) >= 9
    for component in components():
        script = Path(ROOT / component.__module__.replace(".", "/")).with_name(component._bundle).read_text()
        written = set(WRITES.findall(script))
        assert written == set(getattr(component, "_from_browser", {})), component.__name__


async def test_no_other_property_of_any_component_can_be_set(lab: Serving) -> None:
    async with SocketClient(lab.page) as client:
        before = await document_of(client)
        tried = 0
        for name, root in roots(before).items():
            allowed = getattr(component_class(root["attributes"]["class_name"]), "_from_browser", {})
            model = root["attributes"]["data"]
            for attribute in set(model["attributes"]) - set(allowed):
                for value in PROBES.values():
                    await client.change(model["id"], attribute, value)
                    tried += 1
            for attribute in ("esm", "bundle", "class_name", "visible", "stylesheets", "css_bundle"):
                await client.change(root["id"], attribute, PROBES["text"])
            assert data_of(before, name)
        assert tried > 200
        after = await document_of(client)
        for document in (before, after):  # that so many messages are slowed down is said there
            data_of(document, "desk")["attributes"].pop("message", None)
        assert json.dumps(after) == json.dumps(before)
    assert lab.faults() == []


async def test_a_forged_state_opens_nothing(lab: Serving) -> None:
    async with SocketClient(lab.page) as client:
        models = roots(client.document)
        for name, changes in {
            "form": {"locked": True},
            "player": {"enabled": True, "known": 99, "last": 98},
            "desk": {"state": {"step": "verdict", "locked": True}},
            "runs": {"data": "{}"},
        }.items():
            for attribute, value in changes.items():
                await client.change(models[name]["attributes"]["data"]["id"], attribute, value)
        for kind in ("step", "end"):
            await client.event(models["player"]["id"], {"type": kind})
        await client.event(models["desk"]["id"], {"name": "reveal"})
        document = await document_of(client)
        assert data_of(document, "player")["attributes"].get("enabled", False) is False
        assert data_of(document, "form")["attributes"].get("locked", False) is False
        assert betrayed("\n".join(client.heard)) == []


@pytest.mark.parametrize("value", [3, None, [], "text", {"why": 3}, True])
async def test_a_draft_is_texts_or_nothing(lab: Serving, value: Any) -> None:
    async with SocketClient(lab.page) as client:
        form = data_of(client.document, "form")
        await client.change(form["id"], "draft", value)
        after = data_of(await document_of(client), "form")
        assert after["attributes"].get("draft") == form["attributes"].get("draft")


async def test_a_draft_of_texts_is_kept(lab: Serving) -> None:
    async with SocketClient(lab.page) as client:
        form = data_of(client.document, "form")
        text = {"why": "<b>because</b>"}
        await client.change(form["id"], "draft", text)
        assert plain(data_of(await document_of(client), "form")["attributes"]["draft"]) == text


@pytest.mark.parametrize(
    "event",
    [
        {"kind": "RootAdded", "model": {"type": "object", "name": "Div", "id": "x1"}},
        {"kind": "RootRemoved", "model": {"id": "p1"}},
        {"kind": "TitleChanged", "title": "<script>"},
        {"kind": "ColumnDataChanged", "model": {"id": "p1"}, "attr": "data", "data": {}, "cols": None},
        {"kind": "MessageSent", "msg_type": "other", "msg_data": {}},
        {"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": {"name": "button_click"}},
        {"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": {"name": "data_event", "values": 3}},
        {"kind": "ModelChanged", "model": {"id": "no such"}, "attr": "x", "new": 1},
        {"kind": "ModelChanged", "model": "p1", "attr": "x", "new": 1},
        {"kind": ["ModelChanged"]},
        {},
        None,
        "ModelChanged",
    ],
)
async def test_another_event_changes_nothing_and_is_one_line(lab: Serving, event: Any) -> None:
    said = len(lab.log.read_text().splitlines())
    async with SocketClient(lab.page) as client:
        before = json.dumps(await document_of(client))
        await client.ask("PATCH-DOC", {"events": [event]})
        assert json.dumps(await document_of(client)) == before
    lines = lab.log.read_text().splitlines()[said:]
    assert len([line for line in lines if "refused from" in line]) == 1
    assert not [line for line in lines if "Traceback" in line]


async def test_a_message_to_a_model_that_takes_none_is_refused(lab: Serving) -> None:
    async with SocketClient(lab.page) as client:
        said = len(lab.log.read_text())
        await client.event(roots(client.document)["log"]["id"], {"type": "step"})
        await client.event("no such", {"type": "step"})
        assert lab.log.read_text()[said:].count("refused from") == 2


def test_only_plain_values_pass() -> None:
    entries = [["a", 1], ["b", [None, {"type": "number", "value": "nan"}]]]
    assert plain({"type": "map", "entries": entries})["a"] == 1
    assert plain({"type": "map"}) == {}
    assert plain({"type": "map", "entries": [["draft", {"type": "map"}]]}) == {"draft": {}}
    deep: Any = 1
    for _ in range(20):
        deep = [deep]
    for value in (
        deep,
        {"id": "p1"},
        {"type": "object", "name": "Div", "id": "x"},
        {"type": "ndarray", "array": {"type": "bytes", "data": ""}, "shape": [10**9], "dtype": "uint8"},
        {"type": "map", "entries": [[["x"], 1]]},
        {"type": "map", "entries": [3]},
        {"plain": "dict"},
    ):
        with pytest.raises(ValueError, match=r"plain|deep|key|entry"):
            plain(value)


def test_the_tick_is_a_tick() -> None:
    kind = component_class("Player")._from_browser["tick"]  # type: ignore[union-attr]
    assert msgspec.convert(3, kind) == 3
    for value in (-2, 1.5, "3", None):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert(value, kind)
