"""Asks, edits, drawn traces and the course: what a file may say, and what is refused when it is loaded."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from engine import InputError, Request
from engine.traces import main_trace
from puzzles import load, solve
from puzzles.course import FOLDER, PLACE, course, read_course, room_of
from puzzles.edits import Edits, edited
from puzzles.library import names, read
from puzzles.rules import own_lines, rule_lines, special

GOOD = (FOLDER / "throughput-goodput.toml").read_text("utf-8")
TRACE = tuple(main_trace())
LINES = course().texts


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("held.throughput)", "heldd.throughput)", "'heldd.throughput' is not a figure"),
        ("held.throughput)", "held.speed)", "'held.speed' is not a figure"),
        ("change(static.throughput, held", "change((static.throughput, held", "not an expression"),
        ('key = "service"', 'key = "throughput"', "same key"),
        ('rule = "seats"', 'rule = "chairs"', "rule 'chairs' is not one of"),
        ('request = "R02"', 'request = "R09"', "request 'R09' is not one of"),
        ('fields = ["held.goodput"]', 'fields = ["held.badput"]', "field 'held.badput' is not one of"),
        ('max_wait = "0.4" }', 'max_wait = "0.4" }\ndrop = ["R09"]', "request 'R09' is not one of"),
        ('max_wait = "0.4" }', 'max_wait = "0.4" }\norder = ["R01", "R02"]', "does not name each of"),
        ('max_wait = "0.4" }', 'max_wait = "0.4" }\nspeed = 2', "speed"),
        ('"ask.service" = "Goodput', '"ask.servis" = "Goodput', "ask.servi"),
        ('trace = "R01-R04"\n', "", "there are no requests"),
        ('name = "held"\n', 'name = "nameless"\n', "is not one of"),
        ("held.goodput > static.goodput", "held.goodput > stat.goodput", "'stat.goodput' is not a figure"),
        ("[variants]\n", "[variants]\ngiven = { a = [\"1\"] }\n", "given 'a' is not one of"),
        ("[variants]\n", '[[asks]]\nkey = "n"\nvalue = "static.ticks"\n\n[variants]\n', "needs a unit"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_refused_with_its_place(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in GOOD
    path = tmp_path / "own.toml"
    path.write_text(GOOD.replace(old, new, 1), "utf-8")
    with pytest.raises(InputError) as refused:
        read(path)
    assert said in str(refused.value)
    assert str(refused.value).startswith("own.toml: ")
    assert "\n" not in str(refused.value)


# ---- edits -------------------------------------------------------------------------------------


def test_no_edit_is_no_change() -> None:
    assert edited(TRACE, Edits(), LINES) == TRACE


def test_requests_are_left_out() -> None:
    assert [one.id for one in edited(TRACE, Edits(drop=("R01", "R03")), LINES)] == ["R02", "R04"]


def test_arrival_times_are_handed_out_in_another_order() -> None:
    found = edited(TRACE, Edits(order=("R02", "R03", "R04", "R01")), LINES)
    assert [(one.id, str(one.arrival)) for one in found] == [
        ("R02", "0.00"),
        ("R03", "0.10"),
        ("R04", "0.22"),
        ("R01", "0.38"),
    ]


def test_arrivals_are_spread_exactly() -> None:
    found = edited(TRACE, Edits(spread=Decimal("0.5")), LINES)
    assert [one.arrival for one in found] == [one.arrival / 2 for one in TRACE]


def test_a_longer_prompt_goes_on_with_the_lines_and_a_shorter_one_is_cut() -> None:
    long, short, *_ = edited(TRACE, Edits(prompts={"R01": 60, "R02": 3}, outputs={"R01": 4}), LINES)
    assert str(long.prompt).startswith("To be, or not to b Now is")
    assert (long.prompt_tokens, long.output_tokens, len(str(long.prompt))) == (60, 4, 60)
    assert (short.prompt, short.output_tokens) == ("My ", 2)


def test_a_rule_line_tells_every_edit() -> None:
    for name, told in (
        ("long-last", "arrival times go to R02, R03, R04, R01"),
        ("refuse", "without R01"),
        ("max-tokens", "R01 stops after 4"),
        ("long-prompt", "prompt of 60"),
        ("censored-p95", "ends at 1"),
        ("claims", "arrival times × 0.5"),
        ("page-size", "all arrive at 0 s"),
        ("page-size", "the pool has no limit"),
        ("first-and-next", "KV pages in the pool: no limit"),
    ):
        one = load(name)
        assert any(told in line for line in rule_lines(one, one.words("en"))), name


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", names())
def test_runs_that_differ_are_told_apart(name: str, language: str) -> None:
    """By their policy, or by what stands beside their name; the first one is what the rules tell."""
    one = load(name)
    told: dict[str, object] = {}
    for run in one.runs:
        service = one.service_of(run.name)
        said = f"{service.policy} {special(one, run, one.words(language))}"
        meant = (service, run.drop, run.order, run.spread, run.prompts, run.outputs, run.horizon)
        assert told.setdefault(said, meant) == meant


def test_what_is_new_in_an_exercise_is_told() -> None:
    """None of the usual rules, and nothing in the puzzle itself."""
    main, new = load("main"), load("kv-in-half")
    assert own_lines(main, main, main.words("en")) == []
    found = own_lines(new, main, new.words("zh"))
    assert [line.partition("：")[0] for line in found] == ["KV", "池 76", "池 152"]


# ---- drawn traces and givens ---------------------------------------------------------------------


def test_a_drawn_trace_has_its_count_and_is_the_same_every_time() -> None:
    one = load("rush-hour")
    assert [request.id for request in one.requests] == [f"R{n:02}" for n in range(1, 21)]
    assert read(FOLDER / "rush-hour.toml").requests == one.requests
    assert one.requests != one.variant(1).requests


def test_givens_fill_expressions_and_texts() -> None:
    one = load("kv-heads")
    assert "Llama-3-8B: 32 layers" in one.words("en")("lead")
    assert "{" not in one.words("zh")("lead")
    seen = {one.variant(seed).given["model"]: solve(one.variant(seed))["token"] for seed in range(1, 12)}
    assert len(set(seen.values())) > 1


def test_a_listed_request_without_a_prompt_says_a_line() -> None:
    first = load("chunked").requests[0]
    assert first == Request("R01", Decimal("0.0"), 18, 2, LINES[0][:18])


# ---- the course ----------------------------------------------------------------------------------


def test_every_exercise_has_one_room() -> None:
    assert [room.name for room in course().rooms][:2] == ["door", "path"]
    assert room_of("little").name == "metrics"
    assert all(len(room.exercises) >= 3 for room in course().rooms if room.name != "door")


def test_a_wrong_course_is_refused_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "course.toml"
    path.write_text(PLACE.read_text("utf-8").replace("exercises =", "exercizes =", 1), "utf-8")
    with pytest.raises(InputError, match=r"course\.toml: .*exercizes"):
        read_course(path)
