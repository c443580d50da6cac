"""The benchmark: what it lets itself be asked, and one small run of each kind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from string import Formatter

import pytest

from app.bench import main
from app.bench.figures import Figures, spread
from app.bench.options import OptionError, bench_words, is_loopback, read_options
from app.bench.paper import report
from tests.serving import ROOT

ENGLISH = bench_words({"LANG": "C"})
CHINESE = bench_words({"LANG": "zh_CN.UTF-8"})


def blanks(text: str) -> set[str]:
    return {name.partition(":")[0] for _, name, _, _ in Formatter().parse(text) if name}


def test_both_languages_say_the_same() -> None:
    assert ENGLISH.texts.keys() == CHINESE.texts.keys()
    for key, text in ENGLISH.texts.items():
        assert blanks(text) == blanks(CHINESE.texts[key]), key
        assert text.strip()
        assert CHINESE.texts[key].strip()
    assert ENGLISH("row.lock") != CHINESE("row.lock")


@pytest.mark.parametrize(
    ("url", "inside"),
    [
        ("http://127.0.0.1:5006", True),
        ("http://localhost:5006/app", True),
        ("http://127.8.8.8:1/", True),
        ("http://[::1]:5006", True),
        ("http://192.168.0.7:5006", False),
        ("http://10.0.0.1", False),
        ("http://example.org", False),
        ("http://127.0.0.1.example.org", False),
        ("http://localhost.example.org", False),
        ("http://127.0.0.1@example.org", False),
        ("http://me@127.0.0.1:5006", False),
        ("http://0.0.0.0:5006", False),
        ("https://127.0.0.1:5006", False),
        ("ftp://127.0.0.1", False),
        ("127.0.0.1:5006", False),
        ("http://127.0.0.1:port", False),
        ("http://", False),
        ("http://[::1", False),
    ],
)
def test_only_this_machine_is_loaded(url: str, inside: bool) -> None:
    assert is_loopback(url) == inside


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--url", "http://example.org"], "this machine"),
        (["--learners", "101"], "from 1 to 100"),
        (["--learners", "0"], "from 1 to 100"),
        (["--learners", "many"], "'many'"),
        (["--seconds", "-1"], "from 0 to 600"),
        (["--limit", "1e9"], "from 10 to 3600"),
        (["--steps", "2.5"], "--steps"),
        (["--way", "both"], "panel or class"),
        (["--code", "a b"], "letters and digits"),
        (["--exercise", "../main"], "exercise"),
        (["--nothing"], "--nothing"),
        (["--json", "/nowhere/at/all.json"], "/nowhere/at/all.json"),
    ],
)
def test_a_wrong_argument_is_one_sentence(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert err.count("\n") == 1


def test_options_are_read() -> None:
    options = read_options(["--learners", "60", "--url", "http://127.0.0.1:5006/", "--browser"], ENGLISH)
    assert (options.learners, options.browser, options.page) == (60, True, "http://127.0.0.1:5006/app")
    assert read_options(["--url", "http://localhost:1/x/app/"], ENGLISH).page == "http://localhost:1/x/app"
    with pytest.raises(OptionError):
        read_options(["--learners"], ENGLISH)


def test_what_was_not_measured_is_a_dash() -> None:
    asked = {"learners": 2, "seconds": 1.0, "steps": 1, "way": "panel", "exercise": "main"}
    figures = Figures(machine={"system": "", "cores": 2, "load": None, "python": ""}, asked=asked)
    assert "≤ 0.15 s" in report(figures, ENGLISH)
    assert report(figures, CHINESE).count("—") > 10
    assert spread([]) is None
    found = spread([3.0, 1.0, 2.0])
    assert found is not None
    assert (found.count, found.p50, found.p95, found.longest) == (3, 2.0, 3.0, 3.0)


def measured(folder: Path, *arguments: str) -> Figures:
    """What a small benchmark writes; its own process, because a browser's loop lives in it."""
    file = folder / "figures.json"
    small = ["--learners", "3", "--seconds", "1", "--steps", "2", "--limit", "900", "--json", str(file)]
    done = subprocess.run(
        [sys.executable, "-m", "app.bench", *small, *arguments],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT), "LANG": "C"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "≤ 0.15 s" in done.stdout
    values = json.loads(file.read_text())
    return Figures(**values)


@pytest.mark.slow
def test_a_class_is_measured(tmp_path: Path) -> None:
    figures = measured(tmp_path, "--way", "class")
    assert figures.joined == 3
    assert figures.errors == []
    assert figures.browser is None
    assert figures.cpu_per_join
    assert figures.memory_per_learner is not None
    assert figures.step_together is not None
    assert figures.step_bytes is not None
    assert figures.step_bytes_unpacked is not None
    assert figures.step_bytes < figures.step_bytes_unpacked / 4


@pytest.mark.slow
@pytest.mark.ui
def test_a_browser_joins_the_class(tmp_path: Path) -> None:
    browser = measured(tmp_path, "--browser").browser
    assert isinstance(browser, dict)
    assert browser["sent"] == 0
    assert browser["played_ticks"] > 10
    assert browser["cold"]["bytes"] < 1_000_000
    assert browser["cold"]["outside"] == []
    assert browser["beside"] == 3
    assert browser["alone"]["count"] == browser["together"]["count"] == 2
