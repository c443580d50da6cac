"""Every text is there in both languages, and none stands in the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app import components
from app.components.base import HERE, LabComponent, component_words
from puzzles.words import puzzle_words

ENGLISH, CHINESE = (component_words(language).texts for language in ("en", "zh"))
COMPONENTS = [getattr(components, name) for name in components.__all__]
USED = re.compile(r"words\.(\w+)|words\[[`\"](\w+)")
HAN = re.compile(r"[\u4e00-\u9fff]")


def test_both_languages_have_the_same_keys() -> None:
    assert ENGLISH.keys() == CHINESE.keys()


@pytest.mark.parametrize("texts", [ENGLISH, CHINESE])
def test_no_text_is_empty(texts: dict[str, str]) -> None:
    assert [key for key, text in texts.items() if not text] == []


def test_both_languages_have_the_same_blanks() -> None:
    def blanks(text: str) -> set[str]:
        return set(re.findall(r"\{(\w+)\}", text))

    assert [key for key in ENGLISH if blanks(ENGLISH[key]) != blanks(CHINESE[key])] == []


@pytest.mark.parametrize("component", COMPONENTS, ids=lambda one: one.__name__)
def test_a_script_uses_only_words_it_has(component: type[LabComponent]) -> None:
    script = (HERE / str(component._bundle)).read_text()
    used = {first or second for first, second in USED.findall(script)}
    keys = component(language="zh").texts
    # A key that ends in the middle, as in words[`metric_${name}`], is the beginning of several.
    assert [word for word in used if not any(key == word or key.startswith(word) for key in keys)] == []


def test_a_language_can_be_changed() -> None:
    player = components.Player()
    assert player.texts["step"] == "Step"
    player.language = "zh"
    assert player.texts["step"] == "单步"


def test_runs_and_cells_are_called_as_on_the_static_pages() -> None:
    timelines = components.Timelines(language="zh")
    assert timelines.texts["cell.waiting"] == puzzle_words("zh")("cell.waiting")
    assert timelines.texts["run.static.short"] == puzzle_words("zh")("run.static.short")


@pytest.mark.parametrize("path", sorted([*HERE.glob("*.js"), *HERE.glob("*.py")]), ids=lambda path: path.name)
def test_no_chinese_and_no_outside_address_in_the_code(path: Path) -> None:
    text = path.read_text()
    assert not HAN.search(text)
    assert "http" not in text


@pytest.mark.parametrize(
    "path",
    sorted(path for path in HERE.iterdir() if path.suffix in (".js", ".py", ".css")),
    ids=lambda p: p.name,
)
def test_files_stay_short(path: Path) -> None:
    assert len(path.read_text().splitlines()) < 400
