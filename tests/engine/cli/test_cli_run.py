"""``python -m engine run``: the torch engine on a trace, and prompts for a trace of counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine import Request
from engine.cli import main
from engine.prompts import CORPUS, prompts_for
from engine.requests import prompt_bytes
from engine.traces import main_trace


def run_json(capsys: pytest.CaptureFixture[str], command: str, *arguments: str) -> dict[str, Any]:
    assert main([command, *arguments, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_the_engine_keeps_to_the_ledger(capsys: pytest.CaptureFixture[str]) -> None:
    ledger = run_json(capsys, "simulate", "R01-R04", "--policy", "static")
    engine = run_json(capsys, "run", "R01-R04", "--policy", "static")
    assert engine["summary"] == ledger["summary"]
    assert [len(request.pop("text").encode()) for request in engine["requests"]] == [12, 2, 3, 2]
    assert engine["requests"] == ledger["requests"]
    assert all(tick["work"]["forwards"] == 1 for tick in engine["ticks"] if tick["prefill"] or tick["decode"])


@pytest.mark.parametrize("flags", [("--weights", "int8"), ("--weights", "int4"), ("--fast",)])
def test_formats_and_the_fast_mode(capsys: pytest.CaptureFixture[str], flags: tuple[str, ...]) -> None:
    found = run_json(capsys, "run", "R01-R04", *flags)
    assert found["summary"]["finished"] == 4


def test_the_report_shows_what_was_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "R01-R04"]) == 0
    out = capsys.readouterr().out
    assert '\nWhat was said (text after each prompt):\nR01  "' in out


def test_a_trace_of_counts_gets_prompts(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "counts.csv"
    path.write_text("id,arrival,prompt_tokens,output_tokens\nA,0,30,3\nB,0.1,5,2\n")
    texts = [
        [request["text"] for request in run_json(capsys, "run", str(path), "--seed", seed)["requests"]]
        for seed in ("1", "1", "2")
    ]
    assert texts[0] == texts[1]
    assert [len(text.encode()) for text in texts[0]] == [3, 2]


def test_a_request_longer_than_the_context_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "long.csv"
    path.write_text("id,arrival,prompt_tokens,output_tokens\nA,0,5000,3\nB,0.1,5,2\n")
    found = run_json(capsys, "run", str(path), "--pages", "none")
    assert [request["status"] for request in found["requests"]] == ["refused", "finished"]
    assert found["requests"][0]["reason"] == {"code": "too_long", "have": 512, "need": 5003}


def test_prompts_have_the_exact_length_and_are_ascii() -> None:
    trace = [Request(f"r{n}", "0", n, 1) for n in (1, 2, 18, 400, 200_000)]
    found = prompts_for(trace)
    assert [len(prompt_bytes(r.prompt or "")) for r in found] == [1, 2, 18, 400, 200_000]
    assert all(str(r.prompt).isascii() for r in found)
    assert str(found[3].prompt) in CORPUS.read_text(encoding="ascii")


def test_prompts_depend_on_seed_and_id_alone() -> None:
    trace = [Request(f"r{n}", "0", 20, 1) for n in range(5)]
    assert prompts_for(trace, 1)[3] == prompts_for(trace[3:], 1)[0]
    assert len({r.prompt for r in prompts_for(trace, 1)}) == 5
    assert prompts_for(trace, 1) != prompts_for(trace, 2)


def test_a_given_prompt_is_kept() -> None:
    assert prompts_for(main_trace()) == main_trace()
