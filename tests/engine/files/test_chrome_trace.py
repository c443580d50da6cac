"""The Trace Event Format: what every viewer needs of each event, and that it says what the run did."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from engine import History, Service, simulate
from engine.cli import main
from engine.files.chrome_trace import chrome_trace
from engine.traces import main_trace
from engine.words import engine_words
from tests.engine.random_runs import services, traces

NEEDED = {  # by phase: the fields that the format asks for
    "X": {"name", "cat", "ts", "dur", "pid", "tid", "args"},
    "C": {"name", "ts", "pid", "args"},
    "i": {"name", "ts", "pid", "tid", "s"},
    "M": {"name", "pid", "args"},
}


def events(histories: dict[str, History], language: str = "en") -> list[dict[str, Any]]:
    found = json.loads(chrome_trace(histories, engine_words(language)))
    assert set(found) == {"traceEvents", "displayTimeUnit"}
    return found["traceEvents"]


def check_form(found: list[dict[str, Any]]) -> None:
    """Each event has what its phase needs, and no two of a thread overlap."""
    ends: dict[tuple[int, int], float] = {}
    for event in found:
        assert NEEDED[event["ph"]] <= event.keys()
        assert isinstance(event["pid"], int)
        assert isinstance(event["ts"], int | float)
        assert event["ts"] >= 0
        if event["ph"] == "C":
            assert all(isinstance(value, int | float) for value in event["args"].values())
    for event in sorted((one for one in found if one["ph"] == "X"), key=lambda one: one["ts"]):
        place = event["pid"], event["tid"]
        assert event["dur"] > 0
        assert event["ts"] >= ends.get(place, 0) - 1e-6
        ends[place] = event["ts"] + event["dur"]


def test_a_process_per_run_a_thread_per_request() -> None:
    runs = {name: simulate(main_trace(), Service(policy=name)) for name in ("static", "continuous")}
    found = events(runs)
    check_form(found)
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in found if e["name"] == "thread_name"}
    processes = {e["pid"]: e["args"]["name"] for e in found if e["name"] == "process_name"}
    assert processes == {1: "static", 2: "continuous"}
    assert names == {(p, t): f"R0{t}" for p in (1, 2) for t in (1, 2, 3, 4)}


def test_the_events_of_a_request_are_its_ticks() -> None:
    found = events({"static": simulate(main_trace(), Service(policy="static"))})
    mine = [e for e in found if e["ph"] == "X" and e["tid"] == 4]
    # R04 arrives at 0.38 s, is seen at 0.4 s, waits to 1.2 s, prefill, a decode, keeps its seat
    assert mine[0] | {"args": {}} == mine[0]
    assert (mine[0]["name"], mine[0]["ts"], mine[0]["dur"]) == ("queue", 380_000, 20_000)
    assert Counter(e["name"] for e in mine) == {"queue": 9, "prefill": 1, "decode": 1, "held": 1}
    first = next(e for e in mine if e["name"] == "prefill")
    assert (first["ts"], first["dur"]) == (1_200_000, 100_000)
    assert first["args"]["prompt_tokens"] == 7
    assert first["args"]["output_tokens"] == [1]
    assert len(first["args"]["pages"]) == 3
    assert "the first token comes out" in first["args"]["why"]
    seated = next(e for e in mine if e["name"] == "held")
    assert "keeps its place" in seated["args"]["why"]


def test_the_counters_are_the_records_and_end_at_nothing() -> None:
    history = simulate(main_trace(), Service(policy="static"))
    found = events({"static": history})
    backlog = [e["args"]["waiting"] for e in found if e["name"] == "backlog"]
    held = [e["args"]["tokens"] for e in found if e["name"] == "KV held"]
    assert backlog == [len(record.waiting) for record in history.records] + [0]
    assert held == [record.held for record in history.records] + [0]


def test_the_reasons_are_in_the_language_asked_for() -> None:
    found = events({"static": simulate(main_trace(), Service(policy="static"))}, "zh")
    assert any("等" in e["args"].get("why", "") for e in found if e["ph"] == "X")


@settings(max_examples=60)
@given(traces(), services(policy="continuous"))
def test_any_run_has_the_form(trace: Any, service: Service) -> None:
    history = simulate(trace, service, horizon=float(service.tick) * 40)
    found = events({"a": history, "b": history})
    check_form(found)
    tokens = Counter(
        (e["pid"], e["tid"]) for e in found if e["ph"] == "X" for _ in e["args"].get("output_tokens", ())
    )
    threads = {key: place for place, key in enumerate(history.requests, 1)}
    emitted = Counter(threads[key] for record in history.records for key, _, _ in record.emitted)
    assert tokens == {(pid, tid): n for tid, n in emitted.items() for pid in (1, 2)}


# ---- the command line --------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [[], ["--summary"], ["--json"]])
def test_the_command_line_writes_the_file_too(form: list[str], tmp_path: Path, capsys: Any) -> None:
    file = tmp_path / "run.json"
    assert main(["simulate", "R01-R04", "--policy", "static", "--chrome-trace", str(file), *form]) == 0
    plain = capsys.readouterr().out
    assert main(["simulate", "R01-R04", "--policy", "static", *form]) == 0
    assert capsys.readouterr().out == plain
    assert json.loads(file.read_bytes())["traceEvents"] == events(
        {"static": simulate(main_trace(), Service(policy="static"))}
    )


def test_a_file_that_cannot_be_written_is_one_sentence(tmp_path: Path, capsys: Any) -> None:
    file = tmp_path / "missing" / "run.json"
    assert main(["simulate", "R01-R04", "--chrome-trace", str(file)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert f"--chrome-trace: {file} cannot be written" in err


def test_a_run_of_a_million_ticks_is_refused(tmp_path: Path, capsys: Any) -> None:
    trace, file = tmp_path / "long.csv", tmp_path / "run.json"
    trace.write_text("id,arrival,prompt_tokens,output_tokens\nR01,0,1,2000000\n")
    assert main(["simulate", str(trace), "--pages", "none", "--chrome-trace", str(file)]) == 2
    assert "--chrome-trace: 2000000 ticks are too many" in capsys.readouterr().err
    assert not file.exists()
