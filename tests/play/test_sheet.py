"""What comes from a browser, and what a sheet asks for."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.play.experiment import NoData, experiment_of
from app.play.form import GROUPS, defaults, groups
from app.play.presets import presets
from app.play.sheet import MOST_BYTES, MOST_ROWS, Sheet, plain, sheet_of, text_of
from engine import InputError, Service
from engine.cli.flags import service_from
from engine.service import SETTINGS
from tests.play.sheets import EVIL, rows, setup, sheet


def test_a_sheet_comes_back_as_it_went() -> None:
    one = sheet(name="x.csv", title=EVIL, tick="1.0", of={"kept": setup(policy="static"), "mode": "compare"})
    assert sheet_of(text_of(one)) == one
    assert sheet_of(json.dumps(plain(one))) == one


@pytest.mark.parametrize(
    "change",
    [
        {"mode": "all"},
        {"engine": "cuda"},
        {"setup": {"settings": {"nice": "1"}}},
        {"setup": {"settings": {"tick": 1}}},
        {"setup": {"settings": {"tick": "1" * 41}}},
        {"setup": {"trace": None}},
        {"setup": {"title": "x" * 81}},
        {"setup": {"trace": "x" * (MOST_BYTES + 1)}},
        {"kept": {"settings": {"__class__": "x"}}},
        {"more": 1},
        {"horizon": 1.0},
    ],
)
def test_what_is_no_sheet_is_none(change: dict[str, Any]) -> None:
    assert sheet_of(json.dumps(plain(Sheet()) | change)) is None


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "\ud800", b"\xff", "[" * 100_000])
def test_what_is_no_json_is_none(text: str | bytes) -> None:
    assert sheet_of(text) is None


def test_a_trace_runs_under_every_policy() -> None:
    found = experiment_of(sheet(decode_slots="4", policy="static"), "en")
    assert [(run.name, run.service) for run in found.runs] == [
        (policy, Service(policy=policy, decode_slots=4)) for policy in ("immediate", "static", "continuous")
    ]


def test_two_runs_are_called_a_and_b() -> None:
    kept = setup(title="three", policy="static")
    found = experiment_of(sheet(decode_slots="4", of={"kept": kept, "mode": "compare"}), "zh")
    assert [(run.name, run.title, run.service) for run in found.runs] == [
        ("a", "A · three", Service(policy="static")),
        ("b", "B", Service(decode_slots=4)),
    ]


def test_without_a_there_is_only_b() -> None:
    assert [run.name for run in experiment_of(sheet(of={"mode": "compare"}), "en").runs] == ["b"]


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (sheet(tick="0"), "tick: 0 is not above 0"),
        (sheet(decode_slots="x"), "decode_slots: 'x' is not a whole number"),
        (sheet(pages="-1"), "pages: -1 is not a whole number of at least 1"),
        (sheet(chunked_prefill="maybe"), "chunked_prefill: 'maybe' is not true or false"),
        (sheet(of={"horizon": "soon"}), "horizon: 'soon' is not a number of seconds"),
        (sheet(of={"slo_ttft": "-1"}), "slo_ttft: -1 is negative"),
        (sheet("id,arrival,prompt_tokens,output_tokens\nR01,0,x,2", name="my.csv"),
         "my.csv: row 2: column prompt_tokens: 'x' is not a number of tokens such as 18"),
        (sheet("a,b\n1,2"), "trace: its columns (a, b) are of no known trace"),
        (sheet(rows([("R01", 0, 1, 1), ("R01", 0, 1, 1)])), "trace: row 3: id 'R01' stands also in row 2"),
        (sheet(rows((f"R{n}", 0, 1, 1) for n in range(MOST_ROWS + 1))), "it has 20001 rows; at most 20000"),
        (sheet(rows([("R01", 0, 1, 5_000_001)])), "its outputs are 5000001 tokens; at most 5000000"),
        (sheet("é" * 600_000), "it has 1200000 bytes; at most 1000000"),
        (sheet(of={"mode": "compare", "kept": setup(tick="0")}), "A: tick: 0 is not above 0"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_sentence_that_says_where(one: Sheet, said: str) -> None:
    with pytest.raises(InputError) as error:
        experiment_of(one, "en")
    assert said in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "trace",
    ["", "  \n\n", "\ufeff", "id,arrival,prompt_tokens,output_tokens\n", 
     "arrival;prompt_tokens;output_tokens", "TIMESTAMP,ContextTokens,GeneratedTokens\n\n"],
)  # fmt: skip
def test_a_trace_without_a_request_is_no_error(trace: str) -> None:
    with pytest.raises(NoData):
        experiment_of(sheet(trace), "en")


def test_public_traces_are_read() -> None:
    azure = (
        "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.68,374,44\n2023-11-16 18:15:50.9,0,0"
    )
    found = experiment_of(sheet(azure, name="azure.csv"), "en")
    assert found.runs[0].trace.format == "Azure LLM inference"
    assert [note.code for note in found.notes] == ["moved_clock", "zero_tokens"]


# ---- the form ---------------


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_form_has_every_setting_once(language: str) -> None:
    fields = [field for group in groups(language) for field in group["fields"]]
    assert sorted(field["name"] for field in fields) == sorted(SETTINGS)
    assert [group["name"] for group in groups(language)] == list(GROUPS)
    assert not any("--" in field["text"] for field in fields)


def test_the_defaults_are_the_service() -> None:
    assert service_from(defaults()) == Service()


@pytest.mark.parametrize("preset", presets(), ids=lambda preset: str(preset["key"]))
def test_every_preset_runs(preset: dict[str, Any]) -> None:
    found = experiment_of(sheet(preset["trace"], **preset["settings"]), "en")
    assert found.notes == []
    assert len(found.runs[0].requests) == (
        24 if preset["key"] == "crowd" else 3 + (preset["key"] != "together")
    )
