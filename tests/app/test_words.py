"""The texts of app: the same in both languages, and which language a visitor gets."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

import pytest

from app.words import app_words, choose_language, first_argument

ROOM = Path(__file__).parents[2] / "app"
USED = re.compile(r"""(?:words|_tell)\(\s*f?["']([a-z_.]+)["']""")


def blanks(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_both_languages_say_the_same_things() -> None:
    english, chinese = app_words("en").texts, app_words("zh").texts
    assert english.keys() == chinese.keys()
    for key, text in english.items():
        assert blanks(text) == blanks(chinese[key]), key
        assert text.strip()
        assert chinese[key].strip()


def test_every_text_that_is_used_is_there() -> None:
    files = [*(ROOM / "templates").glob("*.j2"), *(ROOM / "pages").glob("*.py")]
    used = {key for file in files for key in USED.findall(file.read_text())}
    own = {key for key in used if not key.endswith(".") and "." in key}
    assert len(own) > 20
    assert own - app_words("en").texts.keys() == set()


@pytest.mark.parametrize(
    ("asked", "kept", "accepted", "expected"),
    [
        ("zh", "en", "en", "zh"),
        (None, "zh", "en", "zh"),
        (None, None, "zh-TW, en;q=0.5", "zh"),
        (None, None, "de, en;q=0.5, zh;q=0.9", "zh"),
        (None, None, "en;q=nonsense, zh;q=0.1", "zh"),
        (None, None, "", "en"),
        (None, None, None, "en"),
        ("xx", "yy", "qq", "en"),
    ],
)
def test_the_language_asked_for_wins(
    asked: str | None, kept: str | None, accepted: str | None, expected: str
) -> None:
    assert choose_language(asked, kept, accepted) == expected


def test_arguments_may_be_anything() -> None:
    assert first_argument({"lang": [b"zh", b"en"]}, "lang") == "zh"
    assert first_argument({"lang": [b""]}, "lang") is None
    assert first_argument({"lang": []}, "lang") is None
    assert first_argument({}, "lang") is None
    assert first_argument({"lang": [b"\xff"]}, "lang") == "\N{REPLACEMENT CHARACTER}"
