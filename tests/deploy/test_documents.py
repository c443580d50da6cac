"""The pages about operation: the same in both languages, and what they name exists."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from app.classroom.options import TYPES
from tests.serving import ROOT, Answer, Serving, free_port

FOLDER = ROOT / "app" / "deploy"
PAIRS = (("README.md", "README.zh.md"), ("threats.md", "threats.zh.md"))
FLAG = re.compile(r"--([a-z][a-z-]+)")
OF_PANEL = {"address", "port", "session-ids", "allow-websocket-origin", "include-headers", "include-cookies"}
OF_PANEL |= {"websocket-max-message-size", "use-xheaders", "admin", "rest-session-info"}


@pytest.mark.parametrize(("english", "chinese"), PAIRS)
def test_both_languages_say_the_same(english: str, chinese: str) -> None:
    first, second = ((FOLDER / name).read_text() for name in (english, chinese))
    for sign in ("\n## ", "\n- ", "\n1. ", "\n2. ", "\n3. ", "\n4. ", "\n| ", "```"):
        assert first.count(sign) == second.count(sign), sign
    blocks = [re.findall(r"```\n(.*?)```", text, re.DOTALL) for text in (first, second)]
    assert blocks[0] == blocks[1]
    assert set(FLAG.findall(first)) == set(FLAG.findall(second))


@pytest.mark.parametrize("name", [name for pair in PAIRS for name in pair])
def test_what_they_name_is_there(name: str) -> None:
    text = (FOLDER / name).read_text()
    known = {option.replace("_", "-") for option in TYPES} | {"config"} | OF_PANEL
    assert set(FLAG.findall(text)) <= known
    for link in re.findall(r"\]\(([^)]+)\)", text):
        assert (FOLDER / link).exists(), link
    for path in re.findall(r"`(tests/\w+)`", text):
        assert (ROOT / path).is_dir()


def test_the_strict_line_of_panel_serve_works(tmp_path: Path) -> None:
    line = next(
        one for one in (FOLDER / "threats.md").read_text().splitlines() if "panel serve app --addr" in one
    )
    words = shlex.split(line.replace("$(panel secret)", "s" * 44))
    environment = dict(word.split("=", 1) for word in words[: words.index("panel")])
    server = Serving(tmp_path, **environment)
    port = free_port()
    replaced = {"0.0.0.0": "127.0.0.1", "5006": str(port), "lab.example:5006": f"127.0.0.1:{port}"}
    server.port = port
    server.at(port)
    server.options = [replaced.get(word, word) for word in words[words.index("app") + 1 :]]
    try:
        server.start()
        assert Answer(server.page).status == 200
        assert Answer(f"{server.page}?bokeh-session-id={'a' * 44}").status == 403
    finally:
        server.stop()
