"""``python -m puzzles design``: states the task, checks, runs, judges; wrong input is one sentence."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from engine.words import LANGUAGES
from puzzles.command import main
from puzzles.design import FIELDS, design_words, load_task, plan_of, read, task, trials
from puzzles.design.trials import YOURS
from puzzles.design.variables import VARIABLES

WORKED = ("--max-active", "10", "--queue-order", "shortest", "--max-skip", "60")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(("design", *arguments))
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@pytest.mark.parametrize("language", LANGUAGES)
def test_without_settings_the_task_is_stated_and_nothing_is_run(
    capsys: pytest.CaptureFixture[str], language: str
) -> None:
    status, out, error = run(capsys, "--lang", language)
    say = design_words(language)
    assert (status, error) == (0, "")
    assert out.startswith(say("title"))
    for field in FIELDS:
        assert field.group == "variables" or f"--{field.name.replace('_', '-')}" in out
    assert all(name in out for name in VARIABLES)
    assert say("little.title") not in out
    assert "★" not in out


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_design_is_checked_run_and_judged(capsys: pytest.CaptureFixture[str], language: str) -> None:
    status, out, _ = run(
        capsys, *WORKED, "--seed", "7", "--expect-time", "1.5", "--expect-inside", "6",
        "--variables", "step_time,page_size,burstiness", "--lang", language,
    )  # fmt: skip
    say = design_words(language)
    assert status == 0
    assert say("check.title") in out
    assert "4 × 1.5 = 6" in out
    assert "★ " + say("design.yours") in out
    assert all(say(f"design.{one.name}") in out for one in load_task().baselines)
    assert say("picks.failed") in out
    assert say("variable.page_size.why").split(",")[0][:30] in out


def test_json_has_the_figures_of_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, *WORKED, "--seed", "7", "--expect-rank", "2", "--json")
    found = json.loads(out)
    texts, _ = read(load_task().worked | load_task().limits, required=False)
    mine = trials(task(7), plan_of(texts))[YOURS]
    assert status == 0
    assert found["seed"] == 7
    assert list(found["designs"]) == [YOURS, *(one.name for one in load_task().baselines)]
    assert found["designs"][YOURS]["summary"]["goodput"] == mine.goodput
    assert found["designs"][YOURS]["classes"]["long"]["met"] == mine.shares["long"].met
    assert found["designs"][YOURS]["missed"] == sorted(mine.missed)
    assert found["verdict"]["rank"] == 1
    assert found["verdict"]["judged"] == [{"name": "expect_rank", "given": "2", "found": "1", "right": False}]
    assert found["check"][0]["code"] == "little.none"


def test_limits_are_the_tasks_own_unless_given(capsys: pytest.CaptureFixture[str]) -> None:
    own = json.loads(run(capsys, "--max-active", "9", "--json")[1])["plan"]
    given = json.loads(run(capsys, "--slo-ttft", "2", "--json")[1])["plan"]
    assert (own["slo_ttft"], own["slo_tpot"]) == ("1.5", "0.1")
    assert (given["slo_ttft"], given["slo_tpot"]) == ("2", "0.1")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--policy", "fast"), "--policy: 'fast' is not one of immediate, static, continuous"),
        (("--max-active", "0"), "--max-active: '0' is not a whole number from 1 to 100, or none"),
        (("--slo-ttft", "soon"), "--slo-ttft: 'soon' is not a number above 0"),
        (("--expect-rank", "7"), "--expect-rank"),
        (("--variables", "luck"), "--variables: 'luck' is not one of step_time"),
        (("--variables", "step_time"), "at least three"),
        (("--pages", "64"), "--pages: the machine is given (192)"),
        (("--speculate", "2"), "--speculate: the machine is given"),
        (("--seed", "-1"), "seed"),
        (("--seed", "x"), "'x'"),
        (("--json",), "a design is needed"),
        (("--colour", "blue"), "--colour"),
    ],
)
def test_wrong_input_is_one_sentence_and_status_2(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str
) -> None:
    status, out, error = run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert said in error
    assert error.count("\n") == 1


@pytest.mark.slow
def test_help_needs_no_run_and_no_torch() -> None:
    code = (
        "import sys; from puzzles.command import main; main(['design', '--max-active', '8']); "
        "print([name for name in ('torch', 'panel', 'bokeh', 'app') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    shown = subprocess.run(
        [sys.executable, "-m", "puzzles", "design", "--help"], capture_output=True, text=True, check=True
    )
    assert "--queue-order fcfs|shortest" in shown.stdout
    assert "--pages" not in shown.stdout
