"""Whether a sentence is Chinese through and through: nothing of another language but names and values."""

from __future__ import annotations

import re

from engine.files.trace_formats import FORMATS
from engine.service import CHOICES, SETTINGS

CHINESE = re.compile("[一-鿿]")
WORD = re.compile(r"(?<![A-Za-z_0-9])[A-Za-z_][A-Za-z_0-9]*")  # and not the e of 1e30

# What Chinese engineers write in Latin letters too, and Python's own values.
TERMS = {
    *("token", "tick", "prompt", "trace", "id", "KV", "cache", "torch", "goodput", "horizon"),
    *("Request", "Service"),
    *(
        "CSV",
        "JSON",
        "JSONL",
        "UTF",
        "uXXXX",
        "TRACE",
        "COMMAND",
        "None",
        "True",
        "False",
        "none",
        "R01",
        "R04",
    ),
    *("true", "false", "object", "array", "paged", "on_demand", "kv_cache", "kv_layout", "count"),
    *("help", "summary", "simulate", "run", "bench", "fp32", "int8", "int4", "en", "zh"),
}
NAMES = {
    *SETTINGS,
    *(choice for choices in CHOICES.values() for choice in choices),
    *(word for form in FORMATS for text in (form.name, *form.required) for word in WORD.findall(text)),
}


def foreign(sentence: str, given: str = "") -> set[str]:
    """The words of ``sentence`` that are no term and no name, and do not stand in what was ``given``."""
    return set(WORD.findall(sentence)) - TERMS - NAMES - set(WORD.findall(given))


def check(sentence: str, given: str = "") -> None:
    """``sentence`` is one Chinese sentence, every blank of it filled."""
    assert CHINESE.search(sentence), sentence
    assert foreign(sentence, given) == set(), sentence
    assert "\n" not in sentence
    assert "{" not in sentence or "{" in given, sentence
    assert sentence.endswith(("。", "？")), sentence
