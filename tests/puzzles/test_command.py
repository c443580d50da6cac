"""The command line: list, show, check, solve, static."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from engine.words import LANGUAGES
from puzzles import fields, load, names, solve
from puzzles.command import main
from puzzles.words import number


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(arguments)
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_list_names_every_exercise(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "list")
    assert status == 0
    lines = [line.split() for line in out.splitlines()]
    assert [line[0] for line in lines] == list(names())
    assert "A long request at the door" in out


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("seed", ["0", "7"])
def test_show_asks_and_does_not_answer(capsys: pytest.CaptureFixture[str], language: str, seed: str) -> None:
    status, out, _ = run(capsys, "show", "main", "--seed", seed, "--lang", language)
    assert status == 0
    exercise = load("main").variant(int(seed))
    assert all(field.key in out for field in fields(exercise))
    correct = solve(exercise)
    assert number(correct["immediate.R02.ttft"]) not in out.replace("static.R02.ttft=1.2", "")  # type: ignore[arg-type]
    assert number(correct["static.R04.ttft"]) not in out  # type: ignore[arg-type]


def test_solve_gives_every_value_and_its_arithmetic(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "solve", "main")
    lines = {line.split()[0]: line for line in out.splitlines()}
    assert status == 0
    assert "1.20 s" in lines["static.R02.ttft"]
    assert "1.30 − 0.10 = 1.20 s" in lines["static.R02.ttft"]
    assert "continuous" in lines["p95.best"]
    assert "(18 prompt + 12 output tokens) × 0.25 MB = 7.5 MB" in lines["R01.kv_mb"]


def test_check_judges_and_explains(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "check", "main", "static.R02.ttft=0.1", "R01.kv_mb=7.5 MB")
    assert status == 0
    assert "static.R02.ttft  0.10 s  not this" in out
    assert "A static batch lets nobody in" in out
    assert "static, tick 11, R02:" in out
    assert "R01.kv_mb  7.5 MB  right" in out
    assert out.endswith("1 of 2 right\n")


def test_a_short_key_stands_for_every_policy(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "check", "main", "R02.ttft=1.2")
    assert status == 0
    assert out.endswith("2 of 3 right\n")
    assert "slow" not in out


def test_check_of_a_variant_uses_its_trace(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "check", "main", "static.R02.ttft=1.35", "--seed", "7", "--lang", "zh")
    assert "正确" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("check", "main", "static.R02.ttft=1,2"), "point"),
        (("check", "main", "static.R02.ttft=nan"), "not a number"),
        (("check", "main", "static.R02.ttft=-1"), "below zero"),
        (("check", "main", "static.R02.ttft="), "FIELD=VALUE"),
        (("check", "main", "1.2"), "FIELD=VALUE"),
        (("check", "main", "R09.ttft=1.2"), "R09.ttft"),
        (("check", "main"), "required"),
        (("show", "mian"), "'mian' is not one of claims, main"),
        (("show", "main", "--seed", "x"), "'x'"),
        (("show", "main", "--seed", "-1"), "seed"),
        (("show", "main", "--lang", "fr"), "fr"),
        (("explain",), "explain"),
        ((), "command"),
    ],
)
def test_wrong_input_is_one_sentence_and_status_2(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str
) -> None:
    status, out, error = run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert said in error
    assert error.count("\n") == 1
    assert "Traceback" not in error


@pytest.mark.slow
def test_static_writes_and_checks(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    place = str(tmp_path / "out")
    assert run(capsys, "static", "--out", place) == (0, "", "")
    (tmp_path / "out/en/main.html").unlink()
    assert run(capsys, "static", "--check", "--out", place) == (1, "en/main.html\n", "")


def test_the_module_runs_without_torch_or_panel() -> None:
    code = (
        "import sys; from puzzles.command import main; main(['list']); "
        "print([name for name in ('torch', 'panel', 'bokeh', 'app') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("show nobody", "错误：没有练习 'nobody'，可选：claims、main、"),
        ("show main --seed x", "错误：参数 --seed：'x' 不是整数\n"),
        ("show main --seed -3", "错误：seed：-3 无效，应为不小于 0 的整数。\n"),
        ("show", "错误：缺少参数 EX\n"),
        ("show main --colour", "错误：无法识别的参数：--colour\n"),
    ],
)
def test_what_is_wrong_is_told_in_the_language_asked_for(
    capsys: pytest.CaptureFixture[str], line: str, said: str
) -> None:
    status, out, err = run(capsys, *line.split(), "--lang", "zh")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(said)
