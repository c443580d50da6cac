"""The exercise file: what it asks, and what is refused when it is loaded."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import InputError
from puzzles import field_of, fields, load, runs, solve
from puzzles.library import FOLDER, read

MAIN = (FOLDER / "main.toml").read_text("utf-8")


def test_the_grid_has_every_policy_request_and_metric() -> None:
    keys = {field.key for field in fields(load("main"))}
    assert keys >= {
        f"{policy}.R0{n}.{metric}"
        for policy in ("immediate", "static", "continuous")
        for n in (1, 2, 3, 4)
        for metric in ("ttft", "tpot")
    }
    assert keys >= {f"slow.R0{n}.tpot" for n in (1, 2, 3, 4)} | {"p95.best", "R01.kv_mb"}


def test_what_is_required() -> None:
    required = [field.key for field in fields(load("main")) if field.required]
    assert required[:1] == ["immediate.R02.ttft"]
    assert set(required) >= {f"{policy}.R02.ttft" for policy in ("immediate", "static", "continuous")}
    assert set(required) >= {"continuous.R01.tpot", "p95.best", "R01.kv_mb", "slow.R04.tpot"}
    assert len(required) == 10


def test_tolerance_is_half_a_tick_of_the_part_or_half_a_token_and_a_tenth_for_a_pace() -> None:
    main = load("main")
    assert field_of(main, "static.R02.ttft").tolerance == 0.05
    assert field_of(main, "slow.R02.tpot").tolerance == 0.1  # a pace: see Measure
    assert field_of(main, "R01.kv_mb").tolerance == 0.125


def test_fields_say_what_they_are_about() -> None:
    main = load("main")
    one, best, slow = (field_of(main, key) for key in ("static.R02.ttft", "p95.best", "slow.R04.tpot"))
    assert (one.part, one.policy, one.request, one.metric, one.unit) == (
        "policies",
        "static",
        "R02",
        "ttft",
        "s",
    )
    assert best.choices == ("immediate", "static", "continuous")
    assert (slow.part, slow.policy, slow.run) == ("slow", "continuous", "slow")


def test_the_worked_values() -> None:
    correct = solve(load("main"))
    ttft = {
        "immediate": (0.10, 1.20, 1.28, 1.42),
        "static": (0.10, 1.20, 1.08, 0.92),
        "continuous": (0.10, 0.10, 0.18, 0.12),
    }
    for policy, values in ttft.items():
        assert tuple(correct[f"{policy}.R0{n}.ttft"] for n in (1, 2, 3, 4)) == values
        assert all(correct[f"{policy}.R0{n}.tpot"] == 0.1 for n in (1, 2, 3, 4))
    assert tuple(correct[f"slow.R0{n}.tpot"] for n in (1, 2, 3, 4)) == (1.0, 1.0, 1.0, 2.0)
    assert (correct["p95.best"], correct["R01.kv_mb"], correct["continuous.peak_mb"]) == (
        "continuous",
        7.5,
        10.25,
    )


def test_the_runs_of_the_page() -> None:
    found = {spec.name: spec for spec in runs(load("main"))}
    assert [found[name].service.policy for name in ("immediate", "static", "continuous")] == [
        "immediate",
        "static",
        "continuous",
    ]
    assert found["contiguous"].service.kv_layout == "contiguous"
    assert (found["slow"].part, str(found["slow"].service.tick)) == ("slow", "1.0")
    assert {name: spec.weights for name, spec in found.items() if spec.weights != "fp32"} == {
        "continuous.int8": "int8",
        "continuous.int4": "int4",
    }


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('observe = "static.R03.ttft"', 'observe = "static.R09.ttft"', "static.R09.ttft"),
        ('trace = "R01-R04"', 'trace = "R99"', "trace 'R99' is not one of"),
        ('metrics = ["best_p95"]', 'metrics = ["speed"]', "metric 'speed' is not one of"),
        ('part = "slow"', 'part = "fast"', "part 'fast' is not one of"),
        ('service = { policy = "static", max_wait = "0" }', 'service = { polcy = "static" }', "'polcy'"),
        ('max_wait = "0"', 'max_wait = "-1"', "max_wait"),
        ('  "static_is_continuous",', '  "the_earth_is_flat",', "the_earth_is_flat"),
        ('name = "slow"\npart', 'name = "static"\npart', "stands twice"),
        ('[limits]\n', '[limits]\nspeed = 1\n', "speed"),
        ("prompt = [13, 22]", "prompt = [13, 90]", "at least 90 characters"),
        ('id = "R04"\narrival', 'id = "R05"\narrival', "not those of the trace"),
        ("[texts.zh]\n", '[texts.zh]\nextra = "多"\n', "'extra' is not the same"),
        ("{slow_R04_tpot} s。", "{slow_R04} s。", "part.slow.point"),
        ('key = "{run}.{metric}"', 'key = "R01.kv_mb"', "same key"),
        ("name = ", "name ", "main.toml"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_refused_with_its_place(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in MAIN
    path = tmp_path / "main.toml"
    path.write_text(MAIN.replace(old, new, 1), "utf-8")
    with pytest.raises(InputError) as refused:
        read(path)
    assert said in str(refused.value)
    assert str(refused.value).startswith("main.toml: ")
    assert "\n" not in str(refused.value)


def test_an_unknown_exercise_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="'mian' is not one of claims, main"):
        load("mian")


def test_solve_wants_every_run_it_is_asked_about() -> None:
    with pytest.raises(KeyError):
        solve(load("main"), {})
