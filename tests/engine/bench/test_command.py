"""``python -m engine bench``: what it takes, what it writes, what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch

import engine.bench
from engine.bench import Bench, Setting
from engine.cli import bench as command
from engine.cli import main


@pytest.fixture
def small(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The command with small models; what it asked for."""
    asked: list[Any] = []

    def small_setting(*arguments: Any, **options: Any) -> Setting:
        asked.append((arguments, options))
        return setting

    monkeypatch.setattr(engine.bench, "trained_setting", small_setting)
    monkeypatch.setattr(torch, "set_num_threads", lambda count: asked.append(count))
    return asked


def test_the_command_knows_every_section() -> None:
    assert tuple(engine.bench.SECTIONS) == command.SECTIONS


def test_sections_are_printed_and_written(
    small: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "figures.json"
    flags = ["--section", "kv_cache", "--section", "memory", "--quick", "--repeats", "2", "--json", str(path)]
    assert main(["bench", *flags, "--lang", "zh"]) == 0
    assert small == [1, (("zh", 2), {"quick": True})]
    printed = capsys.readouterr().out
    assert printed.index("KV CACHE") < printed.index("MEMORY")
    written = msgspec.json.decode(path.read_bytes(), type=Bench)
    assert written.memory is not None
    assert written.kv_cache is not None
    assert written.serving is None


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--section", "spead"], "--section: 'spead' is not one of memory, serving,"),
        (["--repeats", "0"], "--repeats: '0' is not a whole number of at least 1"),
        (["--threads", "many"], "--threads: 'many' is not a whole number"),
        (["--json", "no/such/folder/x.json"], "--json: 'no/such/folder/x.json' cannot be written"),
        (["--json", "."], "--json: '.' cannot be written"),
        (["--lang", "fr"], "--lang: 'fr' is not one of en, zh"),
        (["--quik"], "did you mean --quick?"),
        (["R01-R04"], "R01-R04: one TRACE is taken"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_runs(
    flags: list[str], message: str, small: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", *flags]) == 2
    found = capsys.readouterr()
    assert message in found.err
    assert (found.out, small) == ("", [])
