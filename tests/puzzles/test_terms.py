"""Terms are found where they are used, in both languages, and nowhere else."""

from __future__ import annotations

import pytest

from engine.words import LANGUAGES
from puzzles.site.glossary import GROUPS
from puzzles.terms import terms_of
from puzzles.words import puzzle_words


def keys(text: str, language: str, *always: str) -> list[str]:
    return [term.key for term in terms_of(text, puzzle_words(language), always)]


@pytest.mark.parametrize(
    ("language", "text"),
    [("en", "How many tokens, and which TTFT? GPTQ."), ("zh", "多少个token？TTFT是多少？GPTQ。")],
)
def test_a_term_is_found_beside_any_letter_of_either_language(language: str, text: str) -> None:
    assert keys(text, language) == ["token", "ttft", "gptq"]


def test_a_part_of_a_word_is_no_term() -> None:
    assert keys("ticket, pages_taken, SLOW, mean_ttft", "en") == []


def test_the_order_is_the_glossarys_and_none_comes_twice() -> None:
    assert keys("TPOT, TTFT and TPOT, of the p99", "en", "ttft", "held") == ["ttft", "tpot", "p95", "held"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_term_finds_itself(language: str) -> None:
    words = puzzle_words(language)
    for key in (key for group in GROUPS for key in group.terms):
        assert key in keys(words(f"glossary.{key}.name"), language), key
        assert words(f"glossary.{key}") in [term.meaning for term in terms_of("", words, (key,))]
