"""The page that says how to add an exercise: its example loads, and what it lists exists."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from puzzles import histories, solve, verdict
from puzzles.course import FOLDER
from puzzles.exercise import Ask, Exercise, Question, Run, Variants, Wrong
from puzzles.expressions import FUNCTIONS, PICKS
from puzzles.library import read
from puzzles.variants import teaches

TEXT = (FOLDER / "README.md").read_text("utf-8")
EXAMPLE = re.findall(r"```toml\n(.*?)```", TEXT, re.S)[0]


@pytest.fixture
def example(tmp_path: Path) -> Exercise:
    path = tmp_path / "my-exercise.toml"
    path.write_text(EXAMPLE, "utf-8")
    return read(path)


def test_the_example_is_an_exercise(example: Exercise) -> None:
    assert solve(example)["gain"] == pytest.approx(1.1)
    assert teaches(example)
    assert teaches(example.variant(7))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_its_belief_is_named(example: Exercise, language: str) -> None:
    judged = verdict(example, {"gain": 0.0}, histories(example), language)
    item = next(item for item in judged.items if item.key == "gain")
    assert item.belief is not None
    assert item.belief.name == "no_gain"
    assert item.belief.evidence


def test_every_part_of_a_file_is_explained() -> None:
    not_written = {"name", "texts", "seed", "items", "layouts", "runs", "questions", "asks", "wrong", "parts"}
    for name in set(Exercise.__struct_fields__) - not_written:
        assert f"`{name}`" in TEXT or f"[{name}]" in TEXT, name
    for struct in (Run, Ask, Question, Wrong):
        for field in msgspec.structs.fields(struct):
            if field.name not in ("part", "item", "key", "tolerance"):
                assert f"`{field.name}`" in TEXT, f"{struct.__name__}.{field.name}"
    for field in msgspec.structs.fields(Variants):
        if field.name not in ("texts", "printed"):
            assert f"`{field.name}`" in TEXT, field.name


def test_every_function_is_explained() -> None:
    for name in (*FUNCTIONS, *PICKS, "change"):
        assert name in TEXT, name


def test_the_page_is_short() -> None:
    assert len(TEXT.splitlines()) < 130
