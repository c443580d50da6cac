"""``python -m app`` with a database that cannot be had: one sentence, status 2, no password."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.settings import DATABASE
from tests.faults.test_server import without_driver
from tests.postgres import PASSWORD, Cluster
from tests.serving import PATIENCE, ROOT, free_port

AWAY = f"postgresql://lab:{PASSWORD}@127.0.0.1"


def start(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("TICKLAB_")}
    command = [sys.executable, "-m", "app", "--data", str(folder / "data"), "--port", str(free_port())]
    return subprocess.run(
        [*command, *arguments],
        cwd=ROOT,
        env=plain | {"LANG": "C"} | environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def said(done: subprocess.CompletedProcess[str]) -> str:
    """The one line it ended with."""
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert PASSWORD not in done.stderr
    return done.stderr


@pytest.mark.parametrize(
    ("language", "words"), [("C", "cannot be reached"), ("zh_CN.UTF-8", "连不上 PostgreSQL")]
)
def test_nobody_is_there(tmp_path: Path, language: str, words: str) -> None:
    assert words in said(start(tmp_path, "--database-url", f"{AWAY}:{free_port()}/lab", LANG=language))


def test_the_login_is_refused(tmp_path: Path, cluster: Cluster) -> None:
    address = f"postgresql://lab:{PASSWORD}wrong@127.0.0.1:{cluster.port}/postgres"
    assert "refuses the login" in said(start(tmp_path, "--database-url", address))


@pytest.mark.parametrize("address", [f"{AWAY}:port/lab", f"postgresql://lab:a@{PASSWORD}@h:x/lab", PASSWORD])
def test_an_address_that_is_none(tmp_path: Path, address: str) -> None:
    assert "must name SQLite or PostgreSQL" in said(start(tmp_path, TICKLAB_DATABASE_URL=address))


def test_the_driver_is_missing(tmp_path: Path) -> None:
    without_driver(tmp_path)
    path = f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    assert "psycopg[binary]" in said(start(tmp_path, "--database-url", f"{AWAY}/lab", PYTHONPATH=path))


def test_the_file_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir(mode=0o700)
    (tmp_path / "data" / DATABASE).write_bytes(b"only text, and long enough to be looked at as a file" * 9)
    assert "damaged or is no database" in said(start(tmp_path))


def test_the_file_is_a_folder(tmp_path: Path) -> None:
    (tmp_path / "data" / DATABASE).mkdir(parents=True)
    assert "Not started" in said(start(tmp_path))
