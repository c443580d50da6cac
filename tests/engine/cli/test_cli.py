"""The command line: its JSON, its report in both languages, and one line for whatever is wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from engine import Stalled
from engine.cli import main
from engine.cli.table import pad, table, width
from engine.service import SETTINGS, Service
from engine.words import engine_words

ROOT = Path(__file__).parents[3]
REQUEST_KEYS = {
    *("id", "arrival", "prompt_tokens", "output_tokens", "status", "queue", "ttft", "tpot", "e2e", "itl"),
    *("preempted", "recomputed_tokens"),
}
SUMMARY_KEYS = {
    *("ticks", "window", "throughput", "goodput", "attainment", "met", "missed", "undecided"),
    *("mean_ttft", "p50_ttft", "p95_ttft", "p99_ttft", "mean_tpot", "p95_tpot", "mean_e2e", "p95_e2e"),
    *("mean_queue", "peak_backlog", "peak_waiting", "peak_reserved_tokens", "peak_held_tokens"),
    *("peak_written_tokens", "peak_pages", "arrival_rate", "mean_in_system", "mean_time_in_system"),
}


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Any:
    """Run the command line in this process: (status, stdout, stderr)."""

    def caller(*arguments: str) -> tuple[int, str, str]:
        status = main(arguments)
        found = capsys.readouterr()
        return status, found.out, found.err

    return caller


def command(*arguments: str, encoding: str = "utf-8") -> subprocess.CompletedProcess[str]:
    """Run the command line as a process of its own that writes in ``encoding``."""
    line = [sys.executable, "-m", "engine", *arguments]
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    return subprocess.run(
        line, cwd=ROOT, env=environment, capture_output=True, encoding=encoding, timeout=120, check=False
    )


def found_json(call: Any, *arguments: str) -> dict[str, Any]:
    status, out, err = call("simulate", "R01-R04", *arguments)
    assert (status, err) == (0, "")
    found: dict[str, Any] = json.loads(out)
    return found


# ---- JSON --------------------------------------------------------------------------------------


def test_json_has_the_fixed_keys(call: Any) -> None:
    found = found_json(call, "--json")
    assert {"service", "requests", "summary", "ticks"} <= found.keys()
    assert all(request.keys() >= REQUEST_KEYS for request in found["requests"])
    assert found["summary"].keys() >= SUMMARY_KEYS
    assert found["service"].keys() == set(SETTINGS)
    assert [request["id"] for request in found["requests"]] == ["R01", "R02", "R03", "R04"]
    assert len(found["ticks"]) == found["summary"]["ticks"] == 12
    assert found["ticks"][0]["prefill"] == [["R01", 0, 18, False]]


@pytest.mark.parametrize("flags", [("--summary",), ("--json", "--summary")])
def test_summary_leaves_the_ticks_out(call: Any, flags: tuple[str, ...]) -> None:
    found = found_json(call, *flags)
    assert "ticks" not in found
    assert found["summary"] == found_json(call, "--json")["summary"]


def test_censored_percentiles_and_missing_values(call: Any) -> None:
    found = found_json(call, "--summary", "--horizon", "1.0", "--slo-ttft", "0.5", "--slo-tpot", "0.15")
    assert found["summary"]["p95_e2e"] == {"at_least": 1.0, "at_most": None}
    assert found["summary"]["mean_time_in_system"] is None
    assert (found["requests"][0]["status"], found["requests"][0]["e2e"]) == ("unfinished", None)
    assert (found["horizon"], found["slo_ttft"], found["slo_tpot"]) == (1.0, 0.5, 0.15)


CHANGED = {
    "policy": "static", "tick": "0.3", "prefill_budget": 7, "decode_slots": 2, "batch_size": 2,
    "max_wait": "0.4", "max_active": 2, "chunked_prefill": False, "shared_budget": 9,
    "decode_order": "round_robin", "queue_order": "shortest", "max_skip": 3, "kv_bytes_per_token": 5,
    "page_size": 3, "pages": None, "kv_reserve": "on_demand", "kv_layout": "contiguous", "max_len": 31,
    "prefix_cache": True, "speculate": 2,
}  # fmt: skip
TOGETHER = {"kv_layout": {"pages": 12}}  # settings that another one needs


def as_text(value: object) -> str:
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


@pytest.mark.parametrize("name", SETTINGS)
def test_every_setting_is_a_flag(call: Any, name: str) -> None:
    given = {name: CHANGED[name], **TOGETHER.get(name, {})}
    flags = [text for key, value in given.items() for text in (f"--{key.replace('_', '-')}", as_text(value))]
    found = found_json(call, "--summary", *flags)["service"]
    plain = json.loads(json.dumps({key: as_text(getattr(Service(), key)) for key in SETTINGS}))
    assert {key: as_text(value) for key, value in found.items()} == plain | {
        key: as_text(value) for key, value in given.items()
    }


def test_no_chunked_prefill_and_the_form_with_an_equals_sign(call: Any) -> None:
    found = found_json(call, "--summary", "--no-chunked-prefill", "--max-active=none", "--pages=20")[
        "service"
    ]
    assert (found["chunked_prefill"], found["max_active"], found["pages"]) == (False, None, 20)


# ---- the report ------------------------------------------------------------------------------------


def test_the_report_has_the_worked_values(call: Any) -> None:
    _, out, _ = call("simulate", "R01-R04", "--policy", "static", "--max-wait", "0.4")
    assert "R04      0.380       7       2  finished    1.120   1.220   0.100  1.320" in out
    assert "window 0 to 1.700 s (the last finish), 17 ticks" in out
    assert "\nR01   wwwFDDDDDDDDDDE\nR02    wwFEssssssssss\nR03      -FDEssssssss\n" in out.replace(
        "-F", "-F"
    )


def test_the_timeline_has_a_letter_per_tick_and_a_legend(call: Any) -> None:
    _, out, _ = call("simulate", "R01-R04")
    assert "tick  0    5    10\nR01   FDDDDDDDDDDE\nR02    FE\nR03      FDE\nR04       FE\n" in out
    legend = out[out.rindex("\n\n") :].strip().splitlines()
    assert [line[0] for line in legend] == list("FDE")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_tables_align_in_both_languages(call: Any, language: str) -> None:
    flags = ("--lang", language, "--pages", "6", "--horizon", "0.45", "--slo-ttft", "0.1", "--tick", "0.07")
    status, out, _ = call("simulate", "R01-R04", *flags)
    assert status == 0
    lines = out.splitlines()
    rules = [place for place, line in enumerate(lines) if set(line) == {"-", " "}]
    assert len(rules) == 2
    for place in rules:
        gaps = [i for i in range(len(lines[place])) if lines[place][i : i + 2] == "  "]
        for line in lines[place - 1 :]:
            if not line:
                break
            columns = "".join(sign * max(1, width(sign)) for sign in line)
            assert all(columns[gap : gap + 2] in ("  ", " ", "") for gap in gaps), line


def test_a_refused_request_is_no_error_and_says_why(call: Any) -> None:
    status, out, err = call("simulate", "R01-R04", "--pages", "6")
    assert (status, err) == (0, "")
    assert "Refused: it needs 8 KV pages, and the whole pool has 6." in out
    assert "of 3 served, 1 refused" in out
    _, chinese, _ = call("simulate", "R01-R04", "--pages", "6", "--lang", "zh")
    assert "拒绝：需要 8 个 KV 页，而整个池只有 6 页。" in chinese


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_report_says_what_was_done_to_a_trace(call: Any, tmp_path: Path, language: str) -> None:
    path = tmp_path / "burst.csv"
    path.write_text("Timestamp,Request tokens,Response tokens\n9,5,5\n8,5,5\n10,0,0\n")
    status, out, _ = call("simulate", str(path), "--lang", language)
    words = engine_words(language)
    assert status == 0
    for text in (words("note.moved", first="8", unit="s"), words("note.zero_tokens", count=1)):
        assert text in out


def test_preemptions_get_their_columns(call: Any) -> None:
    flags = ("--kv-reserve", "on_demand", "--page-size", "1", "--pages", "30", "--tick", "1")
    _, out, _ = call("simulate", "R01-R04", *flags)
    assert "preempted  recomputed" in out
    assert "\nR03    FxRE\n" in out
    assert "R  recompute after preemption" in out


def test_a_long_run_is_not_drawn(call: Any, tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text(
        "id,arrival,prompt_tokens,output_tokens\n" + "".join(f"r{n},{n},9,9\n" for n in range(70))
    )
    _, out, _ = call("simulate", str(path))
    assert "... and 10 more; --json lists them all." in out
    assert "No timeline: it is drawn up to 480 ticks and 40 requests." in out


def test_a_long_gap_is_passed_over(call: Any, tmp_path: Path) -> None:
    path = tmp_path / "gap.csv"
    path.write_text("id,arrival,prompt_tokens,output_tokens\nA,0,9,9\nB,900000000,9,9\n")
    status, out, _ = call("simulate", str(path))
    assert (status, "9000000009 ticks" in out) == (0, True)
    status, out, err = call("simulate", str(path), "--json")
    assert (status, out) == (2, "")
    assert "--json: 9000000009 ticks are too many to print; --summary leaves them out" in err


def test_widths() -> None:
    assert [width(text) for text in ("abc", "吞吐", "e\u0301", "，a", "")] == [3, 4, 1, 3, 0]
    assert (pad("吞", 4), pad("吞", 4, right=True)) == ("吞  ", "  吞")
    assert table([("名", "n"), ("ab", "12")], "lr") == "名   n\n--  --\nab  12"


# ---- what is wrong is said in one line ---------------------------------------------------------------

WRONG = {
    "": "COMMAND: none is given; simulate, run or bench is needed, such as simulate R01-R04",
    "fly R01-R04": "invalid choice: 'fly'",
    "simulate": "TRACE: none is given; R01-R04 or a CSV, JSON or JSONL file is needed",
    "simulate R01-R04 R05": "R05: one TRACE is taken",
    "simulate nowhere.csv": "nowhere.csv: no such file; give R01-R04 or a CSV, JSON or JSONL file",
    "simulate R01-R04 --polcy static": "--polcy: no such flag; did you mean --policy?",
    "simulate R01-R04 --horiz 1": "--horiz: no such flag; did you mean --horizon?",
    "simulate R01-R04 --xyzzy": "--xyzzy: no such flag; --help lists them",
    "simulate R01-R04 --weights int8": "--weights: no such flag",
    "simulate R01-R04 --policy fair": "--policy: 'fair' is not one of immediate, static, continuous",
    "simulate R01-R04 --tick 0": "--tick: 0 is not above 0; a length in seconds such as 0.1 is needed",
    "simulate R01-R04 --tick NaN": "--tick: 'NaN' is not finite",
    "simulate R01-R04 --tick soon": "--tick: 'soon' is not a number of seconds, such as 0.1",
    "simulate R01-R04 --max-wait -1": "--max-wait: -1 is negative; 0 or more seconds are needed",
    "simulate R01-R04 --pages few": "--pages: 'few' is not a whole number of at least 1, or none",
    "simulate R01-R04 --pages 0": "--pages: 0 is not a whole number of at least 1",
    "simulate R01-R04 --pages": "--pages: expected one argument; --help lists what is taken",
    "simulate R01-R04 --decode-slots none": "--decode-slots: 'none' is not a whole number of at least 1",
    "simulate R01-R04 --decode-slots 1.5": "--decode-slots: '1.5' is not a whole number of at least 1",
    "simulate R01-R04 --chunked-prefill maybe": "--chunked-prefill: 'maybe' is not true or false",
    "simulate R01-R04 --horizon 0": "--horizon: 0 is not above 0; a time in seconds such as 1.0 is needed",
    "simulate R01-R04 --slo-ttft -1": "--slo-ttft: -1 is negative; a limit in seconds such as 0.5 is needed",
    "simulate R01-R04 --lang fr": "--lang: 'fr' is not one of en, zh",
    "simulate R01-R04 --kv-layout contiguous --pages none": "--pages: contiguous KV needs a pool",
    "run R01-R04 --weights int2": "--weights: 'int2' is not one of fp32, int8, int4",
    "simulate R01-R04 --max-len 99999999999": "--max-len: it is out of range; a whole number from 1 to",
    "run R01-R04 --pages 999999999999": "--pages: there is no memory for 999999999999 pages of 4 tokens",
    "run R01-R04 --page-size 999999999999999": "--pages: there is no memory for 16 pages of 999999999999999",
    "run R01-R04 --threads 99999": "--threads: 99999 is too many; a whole number from 1 to 256 is needed",
    "run R01-R04 --tick 1e-9": "--tick: 1E-9 s makes 380000000 ticks until the last arrival",
    "run R01-R04 --threads 0": "--threads: '0' is not a whole number of at least 1",
    "run R01-R04 --seed x": "--seed: 'x' is not a whole number of at least 0",
}


@pytest.mark.parametrize("line", WRONG)
def test_malformed_input_is_one_line_and_status_2(call: Any, line: str) -> None:
    status, out, err = call(*line.split())
    assert (status, out) == (2, "")
    assert WRONG[line] in err
    assert err.count("\n") == 1
    assert err.endswith("\n")


def test_a_file_called_like_a_setting_is_not_taken_for_a_flag(
    call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tick").write_text("")
    assert "engine: tick: it is empty" in call("simulate", "tick")[2]


def test_no_name_is_no_trace(call: Any) -> None:
    assert "TRACE: none is given" in call("simulate", "")[2]


def test_a_pool_of_any_size_costs_nothing_to_number(call: Any) -> None:
    assert call("simulate", "R01-R04", "--pages", "999999999999", "--json")[0] == 0


def test_control_characters_in_a_name_do_not_reach_the_terminal(call: Any, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    row = {"id": "a\u001b[2J\nb", "arrival": 0, "prompt_tokens": 3, "output_tokens": 2}
    path.write_text(json.dumps([row]).replace("\\\\", "\\"))
    status, out, _ = call("simulate", str(path))
    assert status == 0
    assert "\x1b" not in out
    assert out.count("a\\x1b[2J\\nb  ") == 2  # its row and its line of the timeline


def test_a_line_break_in_a_name_stays_one_line(call: Any) -> None:
    assert call("simulate", "no\nsuch.csv")[2].count("\n") == 1


def test_a_stalled_run_is_one_line_and_status_1(call: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def stall(*_: object) -> None:
        raise Stalled(7, ["R02", "R03"], "no pages")

    monkeypatch.setattr("engine.cli.simulate.skim", stall)
    status, out, err = call("simulate", "R01-R04")
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert "tick 7: stalled, 2 waiting (R02, R03)" in err


# ---- as a process -----------------------------------------------------------------------------------


def test_the_process_prints_and_exits() -> None:
    done = command("simulate", "R01-R04", "--summary")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["summary"]["ticks"] == 12
    failed = command("simulate", "R01-R04", "--tick", "0")
    assert (failed.returncode, failed.stdout, failed.stderr.count("\n")) == (2, "", 1)
    assert "Traceback" not in failed.stderr


def test_signs_that_the_output_cannot_encode_are_written_out() -> None:
    for language in ("en", "zh"):
        done = command("simulate", "R01-R04", "--lang", language, encoding="ascii")
        assert (done.returncode, done.stderr) == (0, "")
    assert "\\u" in done.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_an_output_that_cannot_be_written_is_one_line() -> None:
    line = [sys.executable, "-m", "engine", "simulate", "R01-R04"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            line, cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False
        )
    assert done.returncode == 1
    assert done.stderr.startswith("python -m engine: the output cannot be written (")
    assert done.stderr.count("\n") == 1


def test_a_reader_that_goes_away_is_no_noise() -> None:
    line = [sys.executable, "-m", "engine", "simulate", "R01-R04", "--json"]
    with subprocess.Popen(line, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()  # long before the first byte comes
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_help_in_both_languages(capsys: pytest.CaptureFixture[str]) -> None:
    for language, text in (("en", "length of a tick, s [0.1]"), ("zh", "一个 tick 的长度")):
        with pytest.raises(SystemExit) as caught:
            main(["simulate", "--lang", language, "--help"])
        assert caught.value.code == 0
        assert text in capsys.readouterr().out


def test_the_ledger_leaves_torch_alone() -> None:
    """Neither the library's ledger nor its command line imports torch or anything of a page."""
    script = (
        "import sys, engine, engine.cli; from engine.traces import main_trace;"
        "engine.simulate(main_trace(), engine.Service()).metrics();"
        "engine.cli.main(['simulate', 'R01-R04', '--summary']);"
        "print(sorted({'torch', 'panel', 'bokeh', 'numpy'} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stderr.strip() == "[]"
