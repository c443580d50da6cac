"""Figures for Prometheus: only when asked for, at their own address, and true."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.error import URLError

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.app.socket_client import SocketClient, roots
from tests.classroom.running import ClassServing, Visitor
from tests.serving import ROOT, Answer, free_port, serving
from tests.ui.learner import REQUIRED

PATIENCE = 120.0  # seconds, on a busy machine


class Counted:
    """A class that shows its figures."""

    def __init__(self, server: ClassServing, port: int) -> None:
        self.server, self.url = server, f"http://127.0.0.1:{port}/metrics"

    def figures(self) -> dict[str, float]:
        families = text_string_to_metric_families(Answer(self.url).text)
        return {one.name: one.value for family in families for one in family.samples}


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Counted]:
    server, port = ClassServing(tmp_path_factory.mktemp("counted")), free_port()
    server.options = ["--metrics", f"127.0.0.1:{port}", "--join-code", "METRICS"]
    try:
        server.start()
        yield Counted(server, port)
        assert server.faults() == []
    finally:
        server.stop()


async def test_what_happens_is_counted(counted: Counted) -> None:
    before = counted.figures()
    visitor = Visitor(counted.server.url)
    visitor.get("/?code=WRONG1")
    visitor.get("/?code=METRICS")
    cookie = "; ".join(f"{one.name}={one.value}" for one in visitor.jar)
    async with SocketClient(counted.server.page, cookie) as client:
        models = roots(client.document)
        draft = {**REQUIRED, "p95.best": "continuous", "confidence": "3"}
        await client.event(models["desk"]["id"], {"name": "read"})
        await client.event(models["form"]["id"], {"type": "lock", "draft": draft})
        await client.event(models["form"]["id"], {"type": "lock", "draft": draft})
        await _until(client, counted, "ticklab_locks_total", 1)
        async with asyncio.timeout(PATIENCE):  # the page may hear of its lock a moment after it was counted
            while (now := counted.figures())["ticklab_runs_total"] < 1:
                await client.event(models["player"]["id"], {"type": "end"})
    assert now["ticklab_learners_joined_total"] == before["ticklab_learners_joined_total"] + 1
    assert now["ticklab_locks_total"] == before["ticklab_locks_total"] + 1
    assert now["ticklab_sessions_open"] == before["ticklab_sessions_open"] + 1
    assert now["ticklab_connections_open"] == before["ticklab_connections_open"] + 1
    assert now["ticklab_engine_ready"] == 1
    assert now["ticklab_engine_restarts_total"] == now["ticklab_database_errors_total"] == 0
    assert 0 <= now["ticklab_loop_lag_seconds"] < 600


async def _until(client: SocketClient, counted: Counted, name: str, least: float) -> None:
    """Keep the session busy until the figure is there."""
    async with asyncio.timeout(PATIENCE):
        while counted.figures()[name] < least:
            await client.ask("SERVER-INFO-REQ", {})


async def test_a_lost_engine_is_counted(counted: Counted) -> None:
    locks = counted.figures()["ticklab_locks_total"]
    os.kill(counted.server.worker(), 9)
    visitor = Visitor(counted.server.url)
    visitor.get("/?code=METRICS")
    cookie = "; ".join(f"{one.name}={one.value}" for one in visitor.jar)
    async with SocketClient(f"{counted.server.page}?ex=tpot", cookie) as client:
        models = roots(client.document)
        fields = models["form"]["attributes"]["data"]["attributes"]["fields"]
        keys = [dict(field["entries"]) for field in fields]
        draft = {field["key"]: _some(field) for field in keys} | {"confidence": "3"}
        await client.event(models["desk"]["id"], {"name": "read"})
        await client.event(models["form"]["id"], {"type": "lock", "draft": draft})
        await _until(client, counted, "ticklab_locks_total", locks + 1)
        async with asyncio.timeout(PATIENCE):  # the first to ask may be told; the next finds it started
            while counted.figures()["ticklab_engine_restarts_total"] < 1:
                await client.event(models["player"]["id"], {"type": "end"})
    assert counted.figures()["ticklab_engine_restarts_total"] == 1


def _some(field: dict[str, object]) -> str:
    """An answer that can be locked."""
    choices = field.get("choices")
    if isinstance(choices, list) and choices:
        return str(dict(choices[0]["entries"])["value"])
    return "0.1"


def test_learners_do_not_get_there(counted: Counted) -> None:
    visitor = Visitor(counted.server.url)
    visitor.get("/?code=METRICS")
    assert visitor.get("/metrics").status == 404
    assert Answer(counted.url.removesuffix("/metrics")).status == 404
    assert "default-src 'none'" in Answer(counted.url).headers["Content-Security-Policy"]


def test_the_figures_name_nobody(counted: Counted) -> None:
    text = Answer(counted.url).text
    assert "{" not in text.replace("{version", "")
    assert "METRICS" not in text


def test_without_the_option_there_are_none(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        assert Answer(f"{server.url}/metrics").status == 404


def test_panel_serve_has_them_too(tmp_path: Path) -> None:
    port = free_port()
    with serving(tmp_path, TICKLAB_METRICS=f"127.0.0.1:{port}") as server:
        assert "ticklab_sessions_open" in Answer(f"http://127.0.0.1:{port}/metrics").text
        assert Answer(server.page).status == 200
    with pytest.raises((URLError, ConnectionError)):
        Answer(f"http://127.0.0.1:{port}/metrics")


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("9105", "--metrics must be"),
        ("x:y", "--metrics must be"),
        ("127.0.0.1:0", "must be host:port"),
        ("a:99999", "must be host:port"),
    ],
)
def test_a_wrong_address_stops_it(tmp_path: Path, address: str, said: str) -> None:
    done = started(tmp_path, "--metrics", address)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("language", "said"), [("C", "needs the package prometheus-client"), ("zh_CN", "需要 prometheus-client")]
)
def test_without_the_package_one_sentence_says_so(tmp_path: Path, language: str, said: str) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nclass Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] == 'prometheus_client': raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Absent())\n"
    )
    done = started(tmp_path, "--metrics", "127.0.0.1:9105", LANG=language, PYTHONPATH=f"{tmp_path}:{ROOT}")
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def started(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """``python -m app`` with settings that stop it."""
    own = {"TICKLAB_DATA": str(folder / "data"), "LANG": "C"}
    return subprocess.run(
        [sys.executable, "-m", "app", "--port", str(free_port()), *arguments],
        cwd=ROOT,
        env=os.environ | own | environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
