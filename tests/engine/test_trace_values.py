"""Values in trace files that look like values and are none: one sentence, at once, and nothing runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import InputError
from engine.files.trace_files import load_trace

OWN = "id,arrival,prompt_tokens,output_tokens\n"

BROKEN = {
    "tokens without end": (
        OWN + "A,0,1e999999999,1\n",
        "row 2: column prompt_tokens: '1e999999999' is not a",
    ),
    "more tokens than anybody reads": (
        OWN + "A,0,3,99999999999\n",
        "row 2: request A: output_tokens: it is out",
    ),
    "more digits than are quoted": (
        OWN + "A,0," + "9" * 5000 + ",1\n",
        r"'9{36}\.\.\. is not a number of tokens",
    ),
    "priority without end": (
        "id,arrival,prompt_tokens,output_tokens,priority\nA,0,3,1,1e999999999\n",
        r"^[^:]*trace.csv: row 2: column priority: '1e999999999' is not a whole number such as 0$",
    ),
    "half a character as id": (
        '[{"id": "\\ud800", "arrival": 0, "prompt_tokens": 3, "output_tokens": 1}]',
        "item 1: request id: '.*' is half a character",
    ),
    "half a character in a prompt": (
        '[{"arrival": 0, "prompt_tokens": 3, "output_tokens": 1, "prompt": "\\ud800bc"}]',
        "prompt: '.*' is half a character",
    ),
    "a number as prompt": (
        '[{"arrival": 0, "prompt_tokens": 3, "output_tokens": 1, "prompt": 5}]',
        "prompt: it is no text and no list of token ids",
    ),
    "true as token": (
        '[{"arrival": 0, "prompt_tokens": 2, "output_tokens": 1, "prompt": [1, true]}]',
        "prompt: it is no text and no list of token ids",
    ),
    "a list as id": (
        '[{"id": ["x"], "arrival": 0, "prompt_tokens": 2, "output_tokens": 1}]',
        r"column id: \['x'\] is not a name such as R01",
    ),
    "two names of one column": (
        '[{"id": "a", "ID": "b", "arrival": 0, "prompt_tokens": 2, "output_tokens": 1}]',
        "item 1: two of its names .* are one column",
    ),
    "numbers and dates": (
        OWN + "A,2023-01-01 00:00:00,3,1\nB,5,3,1\n",
        "column arrival: 5 and 2023-01-01 00:00:00 are of two kinds",
    ),
    "underscores": (OWN + "A,1_0,3,1\n", "'1_0' is not a number of seconds"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_broken_values_give_one_sentence(tmp_path: Path, kind: str) -> None:
    content, message = BROKEN[kind]
    path = tmp_path / "trace.csv"
    path.write_text(content)
    with pytest.raises(InputError, match=message) as caught:
        load_trace(str(path))
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < len(str(path)) + 200
