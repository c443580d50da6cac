"""The texts of the classroom: the same in both languages, and every one that is used is there."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

from app.classroom.options import TYPES
from app.classroom.words import class_words, terminal_words

ROOM = Path(__file__).parents[2] / "app" / "classroom"
USED = re.compile(r"""words\(\s*["']([a-z_.]+)["']\s*[,)]""")


def blanks(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_both_languages_say_the_same_things() -> None:
    english, chinese = class_words("en").texts, class_words("zh").texts
    assert english.keys() == chinese.keys()
    for key, text in english.items():
        assert blanks(text) == blanks(chinese[key]), key
        assert text.strip()
        assert chinese[key].strip()


def test_every_text_that_is_used_is_there() -> None:
    files = [*ROOM.glob("*.py"), *ROOM.glob("templates/*.j2")]
    used = {key for file in files for key in USED.findall(file.read_text())}
    used |= {f"{kind}.{name}" for kind in ("option", "expected") for name in TYPES}
    assert len(used) > 50
    assert used - class_words("en").texts.keys() == set()


def test_the_terminal_speaks_its_own_language() -> None:
    assert terminal_words({"LANG": "zh_CN.UTF-8"}).language == "zh"
    assert terminal_words({"LANG": "zh_CN.UTF-8", "LC_ALL": "en_GB.UTF-8"}).language == "en"
    assert terminal_words({}).language == "en"
