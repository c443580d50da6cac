"""One term for one thing, and one way to set it: what holds for every Chinese text of the lab."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from engine.words import catalogue
from puzzles import load, names

ROOT = Path(__file__).parents[2]
FOLDERS = sorted(
    path.parent.parent for room in ("app", "engine", "puzzles") for path in ROOT.glob(f"{room}/**/zh.po")
)

# What the glossary says instead of another word for the same thing.
SAID = {
    "投机解码": "推测解码",
    "达标率": "达成率",
    "backlog": "积压",
    "共用预算": "共享预算",
    "排队时间": "排队延迟",
    "观察窗": "时间窗",
    "trace": "请求表",
    "上限": "限值",
    "tick": "一拍",
    "前缀缓存": "prefix cache 的",
}

HAN = r"[\u4e00-\u9fff]"
UNSET = re.compile(rf"{HAN}[A-Za-z0-9]|[A-Za-z0-9]{HAN}|{HAN}[,:;?!()]|[,:;?!()]{HAN}")
AS_TYPED = "主机:端口"  # a form that is typed as it stands
BLANK = re.compile(r"\{[^}]*\}")


def texts_of(found: Mapping[str, Any]) -> Iterator[str]:
    """Every text, however deep."""
    for value in found.values():
        yield from texts_of(value) if isinstance(value, Mapping) else [str(value)]


def chinese(place: Path | str) -> list[str]:
    """The Chinese texts of a folder with a catalogue, or of an exercise."""
    found = catalogue(place, "zh").texts if isinstance(place, Path) else load(place).texts["zh"]
    return list(texts_of(found))


PLACES = [*FOLDERS, *names()]


EVERYWHERE = pytest.mark.parametrize(
    "place", PLACES, ids=lambda place: place if isinstance(place, str) else str(place.relative_to(ROOT))
)


@EVERYWHERE
def test_a_thing_has_one_name(place: Path | str) -> None:
    assert [text for text in chinese(place) if any(other in text for other in SAID.values())] == []


def test_the_glossary_has_the_names() -> None:
    glossary = " ".join(chinese(ROOT / "puzzles"))
    assert [name for name in SAID if name not in glossary] == []


@EVERYWHERE
def test_chinese_stands_apart_from_latin_and_has_its_own_marks(place: Path | str) -> None:
    texts = (BLANK.sub("", text).replace(AS_TYPED, "") for text in chinese(place))
    assert [text for text in texts if UNSET.search(text)] == []
