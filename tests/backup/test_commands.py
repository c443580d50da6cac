"""``python -m app backup`` and ``restore`` as they are typed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.backup.commands import backup_words
from app.settings import Settings
from app.store import Place, Store, open_store
from tests.postgres import PASSWORD, Cluster
from tests.serving import ROOT, free_port


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("TICKLAB_")}
    command = [sys.executable, "-m", "app", *arguments]
    return subprocess.run(
        command,
        cwd=ROOT,
        env=plain | {"LANG": "C"} | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def opened(data: Path) -> Store:
    return open_store(Settings(data=data))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The folder of a class with one lock."""
    store = opened(tmp_path / "data")
    store.lock(Place("a" * 32, "main", 1), {"x": 1.5}, confidence=2, why="短的会等")
    store.close()
    return tmp_path / "data"


@pytest.fixture
def url(cluster: Cluster) -> Iterator[str]:
    """Of an empty PostgreSQL database."""
    with cluster.lent(tables=False) as lent:
        yield lent


def test_there_and_back_by_postgresql(data: Path, tmp_path: Path, url: str) -> None:
    """Settings are found as the server finds them: a flag, the environment, a file."""
    first, second = str(tmp_path / "1"), str(tmp_path / "2")
    settings = tmp_path / "lab.toml"
    settings.write_text(f'database_url = "{url}"\n')
    done = run("backup", first, "--data", str(data))
    assert (done.returncode, done.stderr) == (0, "")
    assert first in done.stdout
    assert run("restore", first, TICKLAB_DATABASE_URL=url).returncode == 0
    done = run("backup", "--config", str(settings), second)
    assert (done.returncode, done.stderr) == (0, "")
    assert PASSWORD not in done.stdout
    assert run("restore", second, "--data", str(tmp_path / "again")).returncode == 0
    old, new = opened(data), opened(tmp_path / "again")
    assert new.predictions() == old.predictions() != []
    old.close()
    new.close()


def test_what_is_there_stays_unless_told_otherwise(data: Path, tmp_path: Path) -> None:
    file = str(tmp_path / "file")
    assert run("backup", file, "--data", str(data)).returncode == 0
    refused = run("restore", file, "--data", str(data))
    assert refused.returncode == 2
    assert "--replace" in refused.stderr
    assert run("restore", file, "--data", str(data), "--replace").returncode == 0


def wrong(command: str, tmp_path: Path) -> dict[str, tuple[list[str], str]]:
    data = f"--data={tmp_path / 'data'}"
    away = f"--database-url=postgresql://lab:{PASSWORD}@127.0.0.1:{free_port()}/x"
    backup_first = {"nothing there yet": ([str(tmp_path / "f"), f"--data={tmp_path / 'none'}"], "--data")}
    restore_first = {"no such file": ([str(tmp_path / "none"), data], "No such file")}
    return (backup_first if command == "backup" else restore_first) | {
        "no file": ([data], "FILE"),
        "a folder": ([str(tmp_path), data], str(tmp_path)),
        "an unknown flag": ([str(tmp_path / "f"), "--all"], "--all"),
        "no database of ours": (
            [str(tmp_path / "f"), f"--database-url=mysql://u:{PASSWORD}@h/d"],
            "SQLite or",
        ),
        "an address that is none": (
            [str(tmp_path / "f"), f"--database-url=postgresql://u:{PASSWORD}@h:port/d"],
            "SQLite or",
        ),
        "unreachable": ([str(tmp_path / "class"), away], "PostgreSQL cannot be reached"),
    }


@pytest.mark.parametrize("command", ["backup", "restore"])
def test_what_is_wrong_is_said_in_one_line(data: Path, tmp_path: Path, command: str) -> None:
    whole = tmp_path / "class"
    assert run("backup", str(whole), "--data", str(data)).returncode == 0
    if command == "backup":
        whole.unlink()
    for name, (arguments, said) in wrong(command, tmp_path).items():
        done = run(command, *arguments)
        assert (done.returncode, done.stdout) == (2, ""), name
        assert said in done.stderr, name
        assert len(done.stderr.splitlines()) == 1, done.stderr
        assert PASSWORD not in done.stderr


def test_help_names_the_settings(data: Path) -> None:
    for command in ("backup", "restore"):
        done = run(command, "--help")
        assert done.returncode == 0
        for flag in ("FILE", "--config", "--data", "--database-url", "TICKLAB_DATABASE_URL"):
            assert flag in done.stdout


def test_both_languages_say_the_same() -> None:
    en, zh = backup_words("en"), backup_words("zh")
    assert en.texts.keys() == zh.texts.keys()
    assert all(zh.texts.values())
