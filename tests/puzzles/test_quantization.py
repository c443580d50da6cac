"""The recorded engine figures: read without torch, told in words, and their absence said plainly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from engine import InputError
from puzzles import puzzle_words
from puzzles.quantization import (
    PLACE,
    Recorded,
    formats_sheet,
    layers_sheet,
    made,
    read,
    speed_sheet,
    texts_sheet,
)
from puzzles.site.exercise_page import quantization

WORDS = puzzle_words("en")


def layer(error: float | None) -> dict[str, Any]:
    return {"part": {"name": "head", "unread": 1}, "weight_error": error, "output_error": error}


def one(name: str, chosen: int, error: float | None, first: int | None) -> dict[str, Any]:
    token = {"token": 101, "chosen": chosen, "largest": 0.5, "mean": 0.25, "margin": 1.0}
    free = {"text": "e <a>", "first_difference": first, "tokens": []}
    return {
        "format": name,
        "linear_bytes": 1000,
        "linear_ratio": 0.25,
        "total_ratio": 0.5,
        "layers": [layer(error), layer(None)],
        "prompts": [{"id": "R01", "forced": [token, token], "free": free}],
        "held_out": {"loss": 1.5, "scored": 16128, "window": 256},
    }


RECORD = msgspec.convert(
    {
        "date": "2030-01-02",
        "processor": "a processor",
        "torch": "2.13.0",
        "settings": {"weights": "abcdef0123456789", "threads": 1, "digits": 5},
        "comparison": {
            "prompts": [{"id": "R01", "prompt": "To be", "text": "e <a>", "tokens": []}],
            "formats": [one("fp32", 101, None, None), one("int4", 102, 0.125, 4)],
        },
        "speed": [
            {"format": "fp32", "rows": 1, "context": 64, "milliseconds": 0.75},
            {"format": "int4", "rows": 1, "context": 64, "milliseconds": 1.25},
        ],
    },
    Recorded,
)


def test_a_line_per_format() -> None:
    rows = formats_sheet(RECORD, WORDS).rows
    assert rows[0] == ("fp32", "1,000", "0.250", "0.500", "—", "—", "0.500", "0.250", "0 of 2", "1.500")
    assert rows[1][4:6] == ("0.1250", "0.1250")
    assert rows[1][8] == "2 of 2"


def test_texts_say_where_they_part() -> None:
    rows = texts_sheet(RECORD, WORDS).rows
    assert [row[3] for row in rows] == ["the same", "differs from token 5 on"]


def test_layers_and_speed() -> None:
    assert layers_sheet(RECORD, WORDS).rows == (("head", "0.1250", "0.1250"),)
    assert speed_sheet(RECORD, WORDS).rows == (("1", "0.75", "1.25"),)


def test_when_where_and_how_is_said() -> None:
    text = made(RECORD, WORDS)
    assert all(part in text for part in ("2030-01-02", "a processor", "2.13.0", "abcdef012345", "16,128"))


def test_the_committed_record_can_be_read() -> None:
    found = read()
    if found is None:
        assert not PLACE.exists()
        return
    assert {one.format for one in found.comparison.formats} >= {"fp32", "int8", "int4"}
    assert all(len(row) == len(formats_sheet(found, WORDS).heads) for row in formats_sheet(found, WORDS).rows)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_record_is_said_plainly(language: str, tmp_path: Path) -> None:
    assert read(tmp_path / "recorded.json") is None
    text = quantization(language, None)
    assert "python -m engine.quantize record" in text
    assert "<table" not in text


def test_a_broken_record_is_named(tmp_path: Path) -> None:
    path = tmp_path / "recorded.json"
    path.write_text('{"date": 1}')
    with pytest.raises(InputError, match=r"recorded\.json"):
        read(path)


def test_texts_of_the_model_are_escaped() -> None:
    from puzzles.render import quantization_tables

    assert "e &lt;a&gt;" in "".join(quantization_tables(RECORD, "en"))
