"""What the room as a whole promises: names that hide nothing, hooks that may load twice, no torch."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from bokeh.server import urls

from app.web.routes import ROUTES, install

ROOM = Path(__file__).parents[2] / "app"


def test_no_module_is_called_like_a_package() -> None:
    """``panel serve app`` puts app/ first on the path: the module would be taken for the package."""
    ours = {path.stem for path in ROOM.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    taken = set(sys.stdlib_module_names) | set(packages_distributions())
    assert {name for name in ours if name in taken and not name.startswith("__")} == set()


def test_main_is_three_lines_of_absolute_imports() -> None:
    lines = [line for line in (ROOM / "main.py").read_text().splitlines() if line]
    assert len(lines) <= 3
    assert not any("from ." in line for line in lines)


def test_hooks_may_load_twice() -> None:
    before = list(urls.toplevel_patterns), list(urls.per_app_patterns)
    install()
    once = list(urls.toplevel_patterns), list(urls.per_app_patterns)
    install()
    assert (list(urls.toplevel_patterns), list(urls.per_app_patterns)) == once
    assert once[0][: len(ROUTES)] == ROUTES
    urls.toplevel_patterns[:], urls.per_app_patterns[:] = before


@pytest.mark.slow
def test_the_server_side_never_imports_torch() -> None:
    script = "import sys, app.pages.learn, app.web.routes, app.server; print('torch' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"


def test_templates_and_scripts_are_where_the_package_finds_them() -> None:
    assert importlib.util.find_spec("app") is not None
    for file in ("templates/lab.html.j2", "pages/desk.js", "pages/page.css", "migrations/env.py"):
        assert (ROOM / file).is_file()
