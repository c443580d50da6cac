"""The README says what is so: its commands are those that run, and its two languages agree."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ENGLISH, CHINESE = ROOT / "README.md", ROOT / "README.zh.md"


def commands(readme: Path) -> list[str]:
    """Every line of the code blocks that calls something in the virtual environment."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", readme.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    lines = [line for language, block in blocks if not language for line in block.splitlines()]
    return [line for line in lines if ".venv/bin/" in line]


def command(part: str) -> str:
    """The one command of the README that has ``part``."""
    (found,) = [line for line in commands(ENGLISH) if part in line]
    return found


def test_both_languages_have_the_same_commands_and_headings() -> None:
    assert commands(ENGLISH) == commands(CHINESE)
    levels = [re.findall(r"^#+", path.read_text("utf-8"), re.MULTILINE) for path in (ENGLISH, CHINESE)]
    assert levels[0] == levels[1]


def test_ci_runs_the_test_line_of_the_readme() -> None:
    assert (ROOT / ".ci" / "run").read_text("utf-8").splitlines()[-1] == command("tests.prepare")


def test_links_of_the_readme_lead_somewhere() -> None:
    for readme in (ENGLISH, CHINESE):
        for target in re.findall(r"\]\(([^)#]+)\)", readme.read_text("utf-8")):
            assert (ROOT / target).exists(), target


@pytest.mark.slow
@pytest.mark.parametrize(
    "line",
    [
        line
        for line in commands(ENGLISH)
        if re.search("-m (engine|puzzles) ", line) and "my-trace" not in line
    ],
)
def test_the_commands_work(line: str) -> None:
    words = shlex.split(line)
    done = subprocess.run([sys.executable, *words[1:]], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_python_example_works(capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = re.findall(r"^```python\n(.*?)^```", ENGLISH.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    exec(compile(example, "README.md", "exec"), {})
    assert capsys.readouterr().out.startswith("1.2\n")


def test_nothing_of_one_machine_is_in_the_project() -> None:
    """No absolute home or temporary paths in what is committed (this file apart)."""
    files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.split(
        b"\0"
    )
    for name in filter(None, files):
        path = ROOT / os.fsdecode(name)
        if path.suffix in {
            ".py",
            ".md",
            ".toml",
            ".js",
            ".css",
            ".html",
            ".po",
            ".json",
            ".j2",
        } and path != Path(__file__):
            assert not re.search(r"(?<![\w.])/(root|home)/\w", path.read_text("utf-8")), path
