"""The texts of the transfer task and of its page: the same in both languages, all that are used are there."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

import pytest

from app.designing.words import page_words
from engine.reasons import ACTIVE, WAITING
from puzzles.design import FIELDS, design_words, load_task
from puzzles.design.fields import GROUPS
from puzzles.design.variables import VARIABLES

ROOT = Path(__file__).parents[2]
SOURCES = [
    *(ROOT / "puzzles/design").glob("*.py"),
    *(ROOT / "app/designing").glob("*.py"),
    *(ROOT / "app/templates").glob("design*.j2"),
    ROOT / "puzzles/render/templates/design.html",
    ROOT / "puzzles/render/templates/index.html",
]
USED = {
    design_words: re.compile(r"""(?:say|Said|Finding|_problem|Problem)\(\s*["']([a-z0-9_.]+)["']\s*[,)]"""),
    page_words: re.compile(r"""tell\(\s*["']([a-z0-9_.]+)["']\s*[,)]"""),
}


def blanks(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


@pytest.mark.parametrize("room", USED)
def test_both_languages_say_the_same_things(room: object) -> None:
    english, chinese = room("en").texts, room("zh").texts  # type: ignore[operator]
    assert english.keys() == chinese.keys()
    for key, text in english.items():
        assert blanks(text) == blanks(chinese[key]), key
        assert text.strip()
        assert chinese[key].strip()


@pytest.mark.parametrize("room", USED)
def test_every_text_that_is_spelled_out_is_there(room: object) -> None:
    used = {key for path in SOURCES for key in USED[room].findall(path.read_text("utf-8"))}  # type: ignore[index]
    texts = room("en").texts  # type: ignore[operator]
    assert len(used) > 10
    missing = [key for key in used if not {key, f"check.{key}", f"problem.{key}"} & texts.keys()]
    assert missing == []


def test_what_is_named_by_data_has_words() -> None:
    say = design_words("en")
    keys = [f"field.{field.name}" for field in FIELDS]
    keys += [f"unit.{field.unit}" for field in FIELDS if field.unit]
    keys += [f"group.{name}" for name in GROUPS]
    keys += [f"{kind}.{code}" for code in (*WAITING, *ACTIVE) for kind in ("why", "reason")]
    keys += [f"variable.{name}{end}" for name in VARIABLES for end in ("", ".why")]
    keys += [f"class.{kind.name}" for kind in load_task().classes]
    keys += [f"{kind}.{one.name}" for one in load_task().baselines for kind in ("design", "said.rival")]
    assert [key for key in keys if key not in say] == []


def test_no_chinese_stands_in_the_code() -> None:
    for path in SOURCES:
        assert not re.search(r"[\u4e00-\u9fff]", path.read_text("utf-8")), path.name
