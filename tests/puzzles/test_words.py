"""The texts: both languages have the same, every key that is used exists, and no page text is in code."""

from __future__ import annotations

import ast
import re
from itertools import product
from pathlib import Path
from string import Formatter

import pytest

import puzzles
from engine.words import LANGUAGES
from puzzles.beliefs import BELIEFS
from puzzles.calculator import FIGURES, MODELS
from puzzles.course import course
from puzzles.derivations import BLANKS
from puzzles.evidence import RULES
from puzzles.figures import OF_A_FORMAT
from puzzles.measures import MEASURES, OF_A_REQUEST
from puzzles.play import play_words
from puzzles.site.glossary import GROUPS
from puzzles.views.model import CELL_KINDS
from puzzles.words import number, plain, puzzle_words, run_name

ROOM = Path(puzzles.__file__).parent
CHINESE = re.compile(r"[\u4e00-\u9fff]")


def blanks(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_both_catalogues_have_the_same_keys_and_blanks() -> None:
    english, chinese = (puzzle_words(language).texts for language in ("en", "zh"))
    assert english.keys() == chinese.keys()
    assert {key: blanks(text) for key, text in english.items()} == {
        key: blanks(text) for key, text in chinese.items()
    }


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_text_is_empty_but_the_letter_of_nothing(language: str) -> None:
    assert [key for key, text in puzzle_words(language).texts.items() if not text] == ["cell.away.letter"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_named_by_data_has_words(language: str) -> None:
    words = puzzle_words(language)
    keys = [f"cell.{kind}{end}" for kind, end in product(CELL_KINDS, ("", ".letter"))]
    keys += [f"belief.{name}{end}" for name, end in product(BELIEFS, ("", ".title"))]
    keys += [f"belief.{name}.choice" for name, belief in BELIEFS.items() if "ttft" in belief.metrics]
    keys += [f"field.{metric}" for metric in MEASURES]
    keys += [f"short.{metric}" for metric in OF_A_REQUEST]
    keys += [f"derive.{metric}" for metric in BLANKS]
    keys += [f"figure.{name}" for name in (*FIGURES, *OF_A_FORMAT)]
    keys += [f"room.{room.name}.{end}" for room in course().rooms for end in ("title", "lead")]
    keys += [f"given.{name}" for name in MODELS]
    keys += [f"glossary.{term}{end}" for group in GROUPS for term in group.terms for end in ("", ".name")]
    keys += [
        f"pages.page.{kind}" for kind in ("allocate", "write", "free", "preempt", "share", "evict", "cache")
    ]
    assert [key for key in keys if key not in words] == []


def test_letters_of_the_cells_are_their_own() -> None:
    letters = [puzzle_words("en")(f"cell.{kind}.letter") for kind in CELL_KINDS]
    assert len(set(letters)) == len(letters)


def test_the_glossary_has_the_terms_of_the_field() -> None:
    terms = {term for group in GROUPS for term in group.terms}
    assert terms >= {
        "ttft", "tpot", "itl", "e2e", "p95", "goodput", "backlog", "prefill", "decode", "kv", "page", "table",
        "slot", "tick",
    }  # fmt: skip


def test_every_key_that_a_template_or_the_code_spells_out_exists() -> None:
    sources = [*ROOM.rglob("*.py"), *ROOM.rglob("*.html")]
    own = {"title", "summary", "lead"}  # texts of the exercises themselves
    for path in sources:
        words = play_words("en") if path.parent.name == "play" else puzzle_words("en")
        for key in re.findall(r"(?<!\w)(?:t|words)\(\"([a-z0-9_.]+)\"[,)]", path.read_text("utf-8")):
            assert key in words or key in own, f"{path.name}: {key}"


def test_no_chinese_stands_in_the_code() -> None:
    """Units that a learner may type are data, not text."""
    for path in ROOM.rglob("*.py"):
        found = [node.value for node in ast.walk(ast.parse(path.read_text("utf-8"))) if _is_text(node)]  # type: ignore[attr-defined]
        assert [text for text in found if CHINESE.search(text)] == (
            ["秒", "毫秒"] if path.name == "units.py" else []
        )
    for path in ROOM.rglob("*.html"):
        assert not CHINESE.search(path.read_text("utf-8"))


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def test_evidence_rules_of_the_beliefs_exist() -> None:
    assert {belief.rule for belief in BELIEFS.values()} <= RULES.keys()


@pytest.mark.parametrize(
    ("value", "text"), [(1.2, "1.20"), (0.825, "0.825"), (0.6666666, "0.667"), (0, "0.00"), (12.0, "12.00")]
)
def test_numbers_have_two_decimals_or_three(value: float, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(7.5, "7.5"), (0.25, "0.25"), (24, "24"), (0, "0"), (10.0, "10")]
)
def test_plain_numbers_have_no_needless_zeros(value: float, text: str) -> None:
    assert plain(value) == text


def test_a_run_without_a_title_goes_by_its_name() -> None:
    assert run_name("mine", puzzle_words("en")) == "mine"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_figure_of_a_request_has_a_name_for_the_head_of_a_column(language: str) -> None:
    words = puzzle_words(language)
    assert [name for name in OF_A_REQUEST if f"short.{name}" not in words] == []
