"""One term for one thing: the words that the glossary does not use are used nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from puzzles.course import FOLDER

ROOT = Path(__file__).parents[2]
TEXTS = sorted([*ROOT.glob("app/**/zh.po"), *ROOT.glob("engine/**/zh.po"), *ROOT.glob("puzzles/**/zh.po")])
TEXTS += sorted(FOLDER.glob("*.toml"))

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


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_thing_has_one_name(path: Path) -> None:
    text = path.read_text("utf-8")
    assert [other for other in SAID.values() if other in text] == []


def test_the_glossary_has_the_names() -> None:
    glossary = (ROOT / "puzzles/locale/zh.po").read_text("utf-8")
    assert [name for name in SAID if name not in glossary] == []
