"""What the websocket gives and takes: no answer before the lock, no run before the lock, no mixing."""

from __future__ import annotations

import json

import pytest

from tests.app.secrets import betrayed
from tests.app.socket_client import SocketClient, plain, roots
from tests.serving import Serving


async def test_the_document_gives_no_answer_away(lab: Serving) -> None:
    async with SocketClient(lab.page) as client:
        assert betrayed(json.dumps(client.document)) == []
        assert roots(client.document).keys() >= {"form", "player", "runs", "timelines", "desk"}


async def test_a_forged_run_is_refused(lab: Serving) -> None:
    async with SocketClient(lab.page) as client:
        models = roots(client.document)
        player, desk = models["player"]["id"], models["desk"]["id"]
        await client.change(models["player"]["attributes"]["data"]["id"], "enabled", True)
        await client.event(player, {"type": "step"})
        await client.event(player, {"type": "end"})
        for command in ({"name": "observe", "text": "1.1"}, {"name": "reveal"}, {"name": "again"}):
            await client.event(desk, command)
        refusal = "The run opens when your prediction is locked."
        await client.until(lambda: refusal in "\n".join(client.heard), "the refusal")
        await client.ask("PULL-DOC-REQ", {})
        assert betrayed("\n".join(client.heard)) == []


@pytest.mark.parametrize(
    "message",
    [
        None,
        [],
        "read",
        {"name": "no such"},
        {"name": "_command"},
        {"name": "put_on", "document": None},
        {"name": "__class__", "text": "x"},
        {"name": None},
        {"name": ""},
        {"name": "observe"},
        {"name": "observe", "text": 3},
        {"name": ["read"]},
        {"name": "observe", "text": "x" * 100_000},
    ],
)
async def test_a_message_of_another_form_does_nothing(lab: Serving, message: object) -> None:
    async with SocketClient(lab.page) as client:
        before = roots(client.document)["desk"]["attributes"]["data"]
        await client.event(roots(client.document)["desk"]["id"], message)
        after = roots((await client.ask("PULL-DOC-REQ", {}))["doc"])["desk"]["attributes"]["data"]
        assert after == before


async def test_a_command_with_more_than_its_texts_is_only_itself(lab: Serving) -> None:
    async with SocketClient(lab.page) as client:
        desk = roots(client.document)["desk"]
        place = (desk["attributes"]["data"]["id"], "state")
        await client.event(desk["id"], {"name": "read", "self": "x", "text": ["y"]})
        await client.until(lambda: plain(client.values[place])["step"] == "predict", "the prediction")
        assert lab.faults() == []
