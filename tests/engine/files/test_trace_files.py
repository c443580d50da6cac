"""Reading traces: the lab's own form, public forms, dirty files, and one clear sentence for the rest."""

from __future__ import annotations

import codecs
import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import InputError, Service, simulate
from engine.cli import main
from engine.files.trace_files import TraceFile, load_trace
from engine.files.trace_formats import FORMATS, folded
from engine.traces import main_trace

OWN = "id,arrival,prompt_tokens,output_tokens\n"
AZURE = "TIMESTAMP,ContextTokens,GeneratedTokens\n"


@pytest.fixture
def read(tmp_path: Path) -> Any:
    """Write content to a file and read it as a trace."""

    def reader(content: str | bytes, name: str = "trace.csv") -> TraceFile:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return load_trace(str(path))

    return reader


def rows(trace: TraceFile) -> list[tuple[str, Decimal, int, int]]:
    return [(r.id, r.arrival, r.prompt_tokens, r.output_tokens) for r in trace.requests]


def lengths(trace: TraceFile) -> list[tuple[float, int, int]]:
    return [(float(r.arrival), r.prompt_tokens, r.output_tokens) for r in trace.requests]


def codes(trace: TraceFile) -> list[str]:
    return [note.code for note in trace.notes]


def lines(*objects: dict[str, Any]) -> str:
    return "".join(json.dumps(found) + "\n" for found in objects)


# ---- the lab's own form ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["R01-R04", "r01-r04", "R01–R04"])
def test_the_main_trace_by_name(name: str) -> None:
    assert load_trace(name).requests == main_trace()


def test_own_csv_keeps_ids_exact_arrivals_and_prompts(read: Any) -> None:
    text = "id,arrival,prompt_tokens,output_tokens,prompt,priority\nA,0.30,3,2,abc,\nB,0.7,5,1,,2\n"
    found = read(text)
    assert rows(found) == [("A", Decimal("0.30"), 3, 2), ("B", Decimal("0.7"), 5, 1)]
    assert [(r.prompt, r.priority) for r in found.requests] == [("abc", 0), (None, 2)]
    assert (found.format, found.notes) == ("Tick Lab", ())
    assert simulate(found.requests, Service()).records[3].arrived == ("A",)


def test_own_arrivals_are_not_moved(read: Any) -> None:
    assert lengths(read(OWN + "A,5,3,2\n")) == [(5.0, 3, 2)]


@pytest.mark.parametrize("wrap", [False, True])
def test_own_json_as_a_list_or_as_the_output_of_a_run(read: Any, wrap: bool) -> None:
    found: Any = [{"id": "A", "arrival": 0.1, "prompt_tokens": 2, "output_tokens": 3, "prompt": [65, 66]}]
    trace = read(json.dumps({"requests": found, "summary": {}} if wrap else found), "trace.json")
    assert rows(trace) == [("A", Decimal("0.1"), 2, 3)]
    assert trace.requests[0].prompt == (65, 66)


def test_the_json_of_a_run_is_a_trace(read: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "R01-R04", "--json"]) == 0
    trace = read(capsys.readouterr().out, "run.json")
    assert rows(trace) == [(r.id, r.arrival, r.prompt_tokens, r.output_tokens) for r in main_trace()]


# ---- public forms ------------------------------------------------------------------------------

PUBLIC = [
    (
        "Azure LLM inference",
        AZURE + "2023-11-16 18:15:46.6805900,374,44\n2023-11-16 18:15:50.9951690,396,109",
    ),
    (
        "Azure LLM inference",
        "TIMESTAMP,NumImages,ContextTokens,GeneratedTokens\n"
        "2024-10-15T12:00:00.269Z,0,374,44\n2024-10-15T12:00:04.583579Z,1,396,109\n",
    ),
    (
        "BurstGPT",
        "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
        "5,ChatGPT,374,44,418,Conversation log\n9.314579,GPT-4,396,109,505,API log\n",
    ),
    ("Vidur", "arrived_at,num_prefill_tokens,num_decode_tokens\n0.0,374,44\n4.314579,396,109\n"),
    (
        "splitwise-sim",
        "request_id,request_type,application_id,arrival_timestamp,batch_size,prompt_size,token_size\n"
        "0,2,0,1,1,374,44\n1,2,0,5.314579,1,396,109\n",
    ),
    (
        "Mooncake",
        lines(
            {"timestamp": 0, "input_length": 374, "output_length": 44, "hash_ids": [0, 1]},
            {"timestamp": 4314.579, "input_length": 396, "output_length": 109, "hash_ids": [0, 2]},
        ),
    ),
    (
        "RAGPulse",
        lines(
            {"timestamp": "82", "input_length": 374, "output_length": 44, "hash_ids": {}, "session_id": "a"},
            {"timestamp": "86.314579", "input_length": 396, "output_length": 109, "session_id": "b"},
        ),
    ),
    (
        "LLMServingSim",
        lines(
            {"input_toks": 374, "output_toks": 44, "arrival_time_ns": 46926808},
            {"input_toks": 396, "output_toks": 109, "arrival_time_ns": 46926808 + 4314579000},
        ),
    ),
    (
        "LLMServingSim (measured)",
        lines(
            {"request_id": "b-0", "input_toks": 374, "output_toks": 44, "arrival_time": 1787267980.0},
            {"request_id": "b-1", "input_toks": 396, "output_toks": 109, "arrival_time": 1787267984.314579},
        ),
    ),
]


@pytest.mark.parametrize(("form", "content"), PUBLIC, ids=[f"{i}-{p[0]}" for i, p in enumerate(PUBLIC)])
def test_public_forms_give_the_same_requests(read: Any, form: str, content: str) -> None:
    found = read(content, "trace.csv" if "," in content.splitlines()[0][:20] else "trace.jsonl")
    assert found.format == form
    assert lengths(found) == [(0.0, 374, 44), (4.314579, 396, 109)]


def test_every_form_in_the_table_is_tested() -> None:
    assert {form for form, _ in PUBLIC} | {"Tick Lab"} == {form.name for form in FORMATS}


def test_ids_are_those_of_the_file_or_the_place_in_it(read: Any) -> None:
    assert [r.id for r in read(PUBLIC[4][1]).requests] == ["0", "1"]
    assert [r.id for r in read(PUBLIC[0][1]).requests] == ["row-2", "row-3"]
    assert [r.id for r in read(PUBLIC[5][1]).requests] == ["line-1", "line-2"]


def test_zones_and_whole_seconds_mix(read: Any) -> None:
    moments = ("00:00:00.001163+00:00", "00:00:01+00:00", "00:00:01.500000+00:00", "01:00:02.250+01:00")
    text = (
        AZURE + "".join(f"2024-05-12 {moment},3,4\n" for moment in moments) + "2024-05-12T00:00:02.25Z,3,4\n"
    )
    first = 0.001163
    found = [round(arrival, 9) for arrival, _, _ in lengths(read(text))]
    assert found == [
        0,
        round(1 - first, 9),
        round(1.5 - first, 9),
        round(2.25 - first, 9),
        round(2.25 - first, 9),
    ]


@pytest.mark.parametrize(("factor", "unit"), [(1, "s"), (1000, "ms"), (10**6, "us"), (10**9, "ns")])
def test_epoch_times_are_moved_and_it_is_said(read: Any, factor: int, unit: str) -> None:
    stamps = [Decimal("1787267980.0827403"), Decimal("1787267980.3477403"), Decimal("1787267981.5827403")]
    text = "".join(
        f'{{"timestamp": {stamp * factor:f}, "input_length": 10, "output_length": 3}}\n' for stamp in stamps
    )
    found = read(text, "trace.jsonl")
    assert [r.arrival for r in found.requests] == [Decimal(0), Decimal("0.265"), Decimal("1.5")]
    assert codes(found) == ["moved_epoch"]
    assert found.notes[0].values["unit"] == unit
    assert len(simulate(found.requests, Service()).records) < 30


def test_own_epoch_times_are_moved_too(read: Any) -> None:
    found = read(OWN + "A,1787267980.5,3,2\nB,1787267981,3,2\n")
    assert [r.arrival for r in found.requests] == [0, Decimal("0.5")]
    assert codes(found) == ["moved_epoch"]


def test_a_late_first_arrival_of_a_public_trace_is_moved_and_it_is_said(read: Any) -> None:
    found = read("arrived_at,num_prefill_tokens,num_decode_tokens\n3.5,12,4\n")
    assert lengths(found) == [(0.0, 12, 4)]
    assert found.notes[0].values == {"first": "3.5", "unit": "s"}


def test_failed_calls_are_left_out_and_counted(read: Any) -> None:
    text = "Timestamp,Request tokens,Response tokens\n5,472,18\n6,0,0\n7,12,0\n8,3,4\n"
    found = read(text)
    assert lengths(found) == [(0.0, 472, 18), (3.0, 3, 4)]
    assert (codes(found), found.notes[-1].values) == (["moved", "zero_tokens"], {"count": 2})


def test_rows_out_of_order_are_served_by_arrival(read: Any) -> None:
    found = read("arrived_at,num_prefill_tokens,num_decode_tokens\n5,1,1\n0,1,1\n7,1,1\n")
    assert codes(found) == ["disorder"]
    order = [key for record in simulate(found.requests, Service(tick="1")).records for key in record.arrived]
    assert order == ["row-3", "row-2", "row-4"]


# ---- dirty files that can be read ----------------------------------------------------------------

CLEAN = OWN + "A,0,18,12\nB,0.1,6,2\n"
DIRTY = {
    "byte-order mark": codecs.BOM_UTF8 + CLEAN.encode(),
    "CRLF": CLEAN.replace("\n", "\r\n").encode(),
    "old Mac line ends": CLEAN.replace("\n", "\r").encode(),
    "no final newline": CLEAN.rstrip().encode(),
    "blank lines": CLEAN.replace("\n", "\n\n").encode() + b"\n\n",
    "quotes": b'"id","arrival","prompt_tokens","output_tokens"\n"A","0","18","12"\n"B","0.1","6","2"',
    "header in other letters": CLEAN.replace(OWN, " ID ,Arrival,PROMPT TOKENS,output-tokens\n").encode(),
    "spaces around cells": CLEAN.replace(",", " , ").encode(),
    "semicolons": CLEAN.replace(",", ";").encode(),
    "tabs": CLEAN.replace(",", "\t").encode(),
    "UTF-16": codecs.BOM_UTF16_LE + CLEAN.encode("utf-16-le"),
    "UTF-16, other end first": codecs.BOM_UTF16_BE + CLEAN.encode("utf-16-be"),
    "more columns": (OWN.rstrip() + ",model,\nA,0,18,12,<b>x</b>,\nB,0.1,6,2,y,\n").encode(),
    "whole numbers with a point": CLEAN.replace(",12", ",12.0").encode(),
    "pretty-printed objects": json.dumps(
        [{"id": "A", "arrival": 0, "prompt_tokens": 18, "output_tokens": 12},
         {"id": "B", "arrival": "0.1", "prompt_tokens": 6, "output_tokens": 2}], indent=4
    ).strip("[]").replace("},", "}").encode(),
}  # fmt: skip


@pytest.mark.parametrize("kind", DIRTY)
def test_dirty_files_give_the_clean_rows(read: Any, kind: str) -> None:
    assert rows(read(DIRTY[kind])) == [("A", Decimal(0), 18, 12), ("B", Decimal("0.1"), 6, 2)]


# ---- files that cannot be read: one sentence, with the place and what would be right -----------------

MOON = '{"timestamp": 0, "input_length": 600, "output_length": 3}\n'
BROKEN = {
    "empty": (b"", "it is empty; a header and at least one row, or JSON objects, are needed"),
    "blank": (b" \n\n", "it is empty"),
    "header only": (OWN, "it has no rows; at least one request is needed"),
    "binary": (b"PK\x03\x04\x00\x00" * 9, "it holds binary data; a text file"),
    "latin-1": (
        "id,arrival\ncafé,1\n".encode("latin-1"),
        r"its encoding is not UTF-8 \(byte 14 is 0xe9\); save it",
    ),
    "UTF-16 without mark": (CLEAN.encode("utf-16-le"), "it holds binary data"),
    "id twice": (OWN + "A,0,1,1\nB,0,1,1\nA,1,1,1\n", "row 4: id 'A' stands also in row 2; every id must"),
    "negative arrival": (
        OWN + "A,-0.5,1,1\n",
        "row 2: column arrival: -0.5 is negative; 0 or later is needed",
    ),
    "no number": (
        OWN + "A,soon,1,1\n",
        "row 2: column arrival: 'soon' is not a number of seconds, such as 0.1",
    ),
    "NaN": (OWN + "A,NaN,1,1\n", "row 2: column arrival: 'NaN' is not finite; a number of seconds"),
    "infinite": (OWN + "A,0,1,1\nB,inf,1,1\n", "row 3: column arrival: 'inf' is not finite"),
    "NaN in JSON": (MOON.replace("0,", "NaN,", 1), r"line 1: column timestamp: 'NaN' is not finite"),
    "zero output": (OWN + "A,0,1,0\n", "row 2: column output_tokens: 0 tokens; at least 1 is needed"),
    "negative length": (
        OWN + "A,0,-3,1\n",
        "row 2: column prompt_tokens: '-3' is not a number of tokens such as 18",
    ),
    "half a token": (OWN + "A,0,3,1.5\n", "row 2: column output_tokens: '1.5' is not a number of tokens"),
    "NaN tokens": (OWN + "A,0,nan,1\n", "row 2: column prompt_tokens: 'nan' is not a number of tokens"),
    "true tokens": (
        '[{"arrival": 0, "prompt_tokens": true, "output_tokens": 1}]',
        "item 1: column prompt_tokens: True is not a number of tokens",
    ),
    "missing cell": (OWN + "A,,3,1\n", "row 2: column arrival has no value; every row needs one"),
    "short row": (OWN + "A,0,3\n", "row 2: it has 3 cells and the header has 4; they must agree"),
    "long row": (OWN + "A,0,3,4,5\n", "row 2: it has 5 cells and the header has 4"),
    "open quote": (OWN + 'A,0,3,"4\n', r"row 2: it is not CSV \(unexpected end of data\)"),
    "column twice": ("id,arrival,prompt_tokens,Prompt Tokens,output_tokens\nA,0,1,1,1\n", "stands twice"),
    "no arrival": (
        "num_prefill_tokens,num_decode_tokens\n3,4\n",
        "column arrived_at is missing; Vidur has arrived_at, num_prefill_tokens, num_decode_tokens",
    ),
    "other columns": (
        "t,running,waiting\n1,2,3\n",
        r"its columns \(t, running, waiting\) are of no known trace",
    ),
    "prompt of another length": (
        "id,arrival,prompt_tokens,output_tokens,prompt\nA,0,3,1,hello\n",
        "row 2: request A: prompt has 5 bytes but prompt_tokens says 3; they must agree",
    ),
    "broken date": (
        AZURE + "2023-13-16 18:15:46,1,1\n",
        "row 2: column TIMESTAMP: '2023-13-16 18:15:46' is no date",
    ),
    "all failed": (
        "Timestamp,Request tokens,Response tokens\n1,0,0\n",
        "every row has 0 prompt or output tokens",
    ),
    "broken line": (
        MOON + '{"timestamp": 2, "input_length": 20, "output_length": 8,}\n',
        "line 2, column 57: it is not JSON",
    ),
    "key missing in one line": (
        MOON + '{"timestamp": 4, "input_length": 20}\n',
        "line 2: column output_length has no",
    ),
    "list of numbers": ("[1, 2]", "item 1: 1 is not an object with named values"),
    "a report": (
        '{"metadata": {}, "benchmarks": []}',
        r"its columns \(metadata, benchmarks\) are of no known",
    ),
    "too deep": ("[" * 100000, "line 1: it is not JSON that can be read"),
    "long number": ('[{"a": ' + "9" * 5000 + "}]", "line 1: it is not JSON that can be read"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_broken_files_give_one_sentence(read: Any, kind: str) -> None:
    content, message = BROKEN[kind]
    with pytest.raises(InputError, match=message) as caught:
        read(content)
    assert "trace.csv: " in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("name", "message"), [("nowhere.csv", "no such file; give R01-R04 or"), ("", "")])
def test_no_file(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(InputError, match=message or "it is a directory; give a CSV, JSON or JSONL file"):
        load_trace(str(tmp_path / name))


def test_a_name_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="it cannot be read"):
        load_trace("a\0b")


@given(st.binary(max_size=300) | st.text(max_size=200).map(str.encode))
@settings(max_examples=150, deadline=None)
def test_any_bytes_give_requests_or_one_sentence(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.mktemp("junk") / "junk.csv"
    path.write_bytes(data)
    with pytest.raises(InputError) as caught:
        load_trace(str(path))
    assert re.match(r".*junk\.csv: .+", str(caught.value))


@given(
    st.lists(st.sampled_from(["id", "arrival", "0", "-1", "1e400", '"', "{", "}", "[", ",", ":", "\n", "\r"]))
)
@settings(max_examples=150, deadline=None)
def test_any_near_miss_gives_requests_or_one_sentence(
    tmp_path_factory: pytest.TempPathFactory, parts: list[str]
) -> None:
    path = tmp_path_factory.mktemp("junk") / "junk.csv"
    path.write_text(OWN + "".join(parts))
    try:
        found = str(path) + ": " * len(load_trace(str(path)).requests)
    except InputError as error:
        found = str(error)
    assert "junk.csv: " in found


def test_names_of_columns_are_compared_folded() -> None:
    assert folded(" Request_Tokens ") == folded("request tokens") == folded("RequestTokens")
