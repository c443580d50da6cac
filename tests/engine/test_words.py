"""The catalogues of the engine: same keys, same blanks, and nothing that is used is missing."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

import pytest

from engine import words
from engine.cli.timeline import LETTERS, ORDER
from engine.reasons import CODES
from engine.service import SETTINGS
from engine.words import LANGUAGES, catalogue, engine_words

STATUSES = ("waiting", "active", "finished", "unfinished", "refused", "cancelled", "failed")
CHINESE = re.compile("[一-鿿]")


def blanks(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def test_both_languages_have_the_same_keys_and_blanks() -> None:
    english, chinese = (engine_words(language).texts for language in LANGUAGES)
    assert english.keys() == chinese.keys()
    assert {key: blanks(text) for key, text in english.items()} == {
        key: blanks(text) for key, text in chinese.items()
    }


@pytest.mark.parametrize("language", LANGUAGES)
def test_everything_has_words(language: str) -> None:
    found = engine_words(language)
    needed = [f"reason.{code}" for code in CODES] + [f"flag.{name}" for name in SETTINGS]
    needed += [f"status.{status}" for status in STATUSES] + [f"cli.letter.{letter}" for letter in ORDER]
    assert [key for key in needed if not found.texts.get(key)] == []


def test_every_code_has_a_letter_with_a_meaning() -> None:
    assert set(LETTERS) == set(CODES)
    assert set(LETTERS.values()) - {" "} == set(ORDER)


def test_no_english_sentence_in_chinese_and_none_in_english() -> None:
    english, chinese = (engine_words(language).texts for language in LANGUAGES)
    assert [key for key, text in english.items() if CHINESE.search(text)] == []
    sentences = [key for key in chinese if key.startswith(("reason.", "note.", "flag.", "cli.meaning."))]
    assert [key for key in sentences if not CHINESE.search(chinese[key])] == []


def test_reasons_are_sentences() -> None:
    for language, stop in zip(LANGUAGES, (".", "。"), strict=True):
        texts = engine_words(language).texts
        assert [key for key in texts if key.startswith("reason.") and not texts[key].endswith(stop)] == []


def test_unknown_language_and_key() -> None:
    with pytest.raises(KeyError, match="'fr' is not one of en, zh"):
        engine_words("fr")
    with pytest.raises(KeyError):
        engine_words("en")("no.such.key")
    assert catalogue(Path(words.__file__).parent, "en") is engine_words("en")
