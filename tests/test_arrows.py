"""The rooms and their arrows: app → puzzles → engine, and no panel below app."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = {"panel", "bokeh", "param", "tornado"}
FORBIDDEN = {
    "engine": {"puzzles", "app", "tests", *PAGE},
    "puzzles": {"app", "tests", *PAGE},
    "app": {"tests"},
}


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """(line, top-level package) of every import, wherever in the file it stands."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name.partition(".")[0]) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, "." if node.level else (node.module or "").partition(".")[0]


@pytest.mark.parametrize("room", FORBIDDEN)
def test_imports_follow_the_arrows(room: str) -> None:
    files = sorted((ROOT / room).rglob("*.py"))
    assert files
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in files
        for line, name in imported(path)
        if name in FORBIDDEN[room] or name == "."
    ]
    assert wrong == []


def test_no_module_of_app_is_called_like_a_package() -> None:
    """``panel serve`` puts app/ first on the path, so such a module would hide the package."""
    names = {path.stem for path in (ROOT / "app").glob("*.py")} | {p.name for p in (ROOT / "app").iterdir()}
    assert not names & {"engine", "puzzles", "panel", "bokeh", "torch", "numpy", "static", "types", "typing"}
