"""What comes of a sheet: the same numbers as the engine's own, drawn where it is short, told where not."""

from __future__ import annotations

import csv
import io
import json
from html.parser import HTMLParser
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings

from app.play.exports import safe_name
from app.play.running import MOST_CELLS, MOST_COLUMNS, skim_slowly
from app.play.spec import Figures, Going, Made, Nothing, Prepared, Seen, Switches
from engine import InputError, Service, Stalled, simulate, skim
from engine.service import POLICIES
from engine.traces import main_trace
from puzzles.views import run_view
from tests.engine import random_runs
from tests.play.sheets import EVIL, SCRIPT, news, only, rows, setup, sheet, ticks


class Tags(HTMLParser):
    """The names of the elements of a fragment, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        assert not any(name.startswith("on") for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.text += f"{data} "


def drawn(figures: Figures) -> list[dict[str, Any]]:
    return json.loads(figures.runs)["runs"]


# ---- in slices ---------------


def in_slices(trace: Any, service: Service, horizon: Any) -> Any:
    """What ``skim_slowly`` returns at its end."""
    slices = skim_slowly(trace, service, horizon, "run")
    while True:
        try:
            assert isinstance(next(slices), Going)
        except StopIteration as end:
            return end.value


@settings(max_examples=150)
@given(random_runs.traces(), random_runs.services())
def test_a_run_in_slices_is_the_run(trace: Any, service: Service) -> None:
    import app.play.running as running

    before = running.SLICE
    running.SLICE = -1.0  # time is up after every event: as many slices as there can be
    try:
        for horizon in (None, 7 * service.tick):
            try:
                whole = skim(trace, service, horizon)
            except Stalled:
                with pytest.raises(Stalled):
                    in_slices(trace, service, horizon)
                continue
            found = in_slices(trace, service, horizon)
            assert found.metrics("0.5", "0.15") == whole.metrics("0.5", "0.15")
            assert (found.lives, found.peaks, found.ticks) == (whole.lives, whole.peaks, whole.ticks)
    finally:
        running.SLICE = before


# ---- figures ---------------


def test_the_pictures_are_those_of_the_lab() -> None:
    figures = only(Figures, news("play", sheet()))
    assert figures.known == 19
    for policy, found in zip(POLICIES, drawn(figures), strict=True):
        view = run_view(simulate(main_trace(), Service(policy=policy)), policy, "en")
        expected = json.loads(msgspec.json.encode(view))
        for part in ("timeline", "strip", "pages", "log"):
            assert found[part] | {"title": ""} == expected[part] | {"title": ""}
        assert found["done"]
    assert figures.page["names"] == list(POLICIES)
    assert figures.page["spoken"] == []


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_table_has_the_worked_values(language: str) -> None:
    figures = only(Figures, news("play", sheet(), language))
    text = Tags(figures.html).text
    for value in ("1.00", "0.825", "0.125", "1.42", "0.667", "4/4", "10.25"):
        assert value in text
    assert "1.200" in Tags(figures.details).text


def test_limits_are_ones_own() -> None:
    strict = only(Figures, news("play", sheet(of={"slo_ttft": "0.01", "slo_tpot": ""})))
    text = Tags(strict.html).text
    assert "TTFT ≤ 0.01 s and TPOT ≤ — s" in text
    assert text.count("0/4") == 3


def test_every_switch_is_told() -> None:
    switches = only(Switches, news("play", sheet()))
    assert "decode_order" in switches.dead
    assert "decode_slots" not in switches.dead
    assert switches.sentences["decode_slots"].startswith("Matters under static, continuous")


def test_two_runs_differ_in_what_changed_only() -> None:
    kept = setup(tick="1.0")
    one = sheet(tick="1.0", decode_slots="4", of={"mode": "compare", "kept": kept})
    text = " ".join(Tags(only(Figures, news("play", one)).html).text.split())
    assert "The first tick that differs: 2" in text
    assert "R04 · TPOT 2.000 1.000" in text
    assert "R01 ·" not in text
    assert "decode_slots 3 4" in text


def test_equal_runs_do_not_differ() -> None:
    found = only(Figures, news("play", sheet(of={"mode": "compare", "kept": setup()})))
    assert "Nothing differs." in Tags(found.html).text


def test_runs_of_another_clock_stand_on_another_axis() -> None:
    one = sheet(tick="1.0", of={"mode": "compare", "kept": setup()})
    page = only(Figures, news("play", one)).page
    assert (page["names"], page["other"]) == (["a"], ["b"])


# ---- bounds ---------------


def test_an_empty_trace_is_no_data() -> None:
    for kind in ("play", "look", "csv"):
        assert news(kind, sheet("")) == [Nothing()]


@pytest.mark.parametrize("count", [100, 10, 300])
def test_a_run_is_as_long_as_it_is(count: int) -> None:
    figures = only(Figures, news("play", sheet(ticks(count), pages="none")))
    assert figures.known == count
    assert {len(run["strip"]["frames"]) for run in drawn(figures)} == {count}


def test_a_long_run_is_drawn_in_part_and_counted_whole() -> None:
    found = news("play", sheet(ticks(5_000), pages="none"))
    figures = only(Figures, found)
    text = Tags(figures.html).text
    assert figures.known == MOST_COLUMNS
    assert f"the first {MOST_COLUMNS} ticks" in text
    assert "settings are not probed" in text
    assert only(Switches, found).sentences == {}
    assert "500.000" in Tags(figures.details).text  # E2E of the whole run


def test_a_crowd_is_counted_and_not_drawn() -> None:
    crowd = rows((f"R{n}", n / 10, 3, 2) for n in range(201))
    figures = only(Figures, news("play", sheet(crowd)))
    assert (figures.known, drawn(figures)) == (0, [])
    assert "More than 200 requests" in Tags(figures.html).text
    assert Tags(figures.details).tags.count("tr") == 202


def test_twenty_thousand_rows_are_taken() -> None:
    crowd = rows((f"R{n}", n, 3, 2) for n in range(20_000))
    text = Tags(only(Figures, news("play", sheet(crowd))).html).text
    assert "20000/20000" in text


def test_many_requests_are_drawn_as_far_as_there_is_room() -> None:
    crowd = rows((f"R{n}", 0, 3, 2) for n in range(150))
    figures = only(Figures, news("play", sheet(crowd)))
    assert figures.known == MOST_CELLS // 150
    assert len(figures.runs) < 5_000_000


def test_a_huge_pool_is_not_drawn() -> None:
    figures = only(Figures, news("play", sheet(pages="1000000")))
    assert figures.page["pools"] == []
    assert len(figures.runs) < 200_000


def test_who_is_refused_is_told() -> None:
    text = Tags(only(Figures, news("play", sheet(pages="4"))).html).text
    assert "continuous, R01: Refused: it needs 8 KV pages, and the whole pool has 4." in text


# ---- files ---------------


def test_the_csv_has_a_row_per_run_and_request() -> None:
    made = only(Made, news("csv", sheet(name="my trace.csv")))
    table = list(csv.DictReader(io.StringIO(made.text.removeprefix("\ufeff"))))
    assert (made.name, made.media) == ("ticklab-my-trace.csv", "text/csv")
    assert [(row["run"], row["id"]) for row in table] == [
        (policy, f"R0{n}") for policy in POLICIES for n in (1, 2, 3, 4)
    ]
    assert [row["ttft"] for row in table if row["run"] == "continuous"] == ["0.1", "0.1", "0.18", "0.12"]


def test_no_formula_begins_in_the_csv() -> None:
    trace = rows([("=1+1", 0, 1, 1), ("@x", 0, 1, 1)])
    made = only(Made, news("csv", sheet(trace, title="=2", of={"mode": "compare"})))
    table = list(csv.DictReader(io.StringIO(made.text.removeprefix("\ufeff"))))
    assert [row["id"] for row in table] == ["'=1+1", "'@x"]


def test_the_json_is_that_of_the_command_line(capsys: Any) -> None:
    from engine.cli import main

    made = json.loads(only(Made, news("json", sheet(of={"slo_ttft": "", "slo_tpot": ""}))).text)
    assert main(["simulate", "R01-R04", "--policy", "static", "--json"]) == 0
    expected = json.loads(capsys.readouterr().out)
    found = made["runs"]["static"]
    assert {k: v for k, v in found.items() if k != "trace"} == {
        k: v for k, v in expected.items() if k != "trace"
    }
    assert list(made["runs"]) == list(POLICIES)


def test_the_chrome_trace_has_a_process_per_run() -> None:
    made = only(Made, news("chrome", sheet()))
    events = json.loads(made.text)["traceEvents"]
    assert [e["args"]["name"] for e in events if e["name"] == "process_name"] == list(POLICIES)
    assert made.name == "ticklab.trace.json"


def test_a_run_too_long_for_a_file_says_so() -> None:
    with pytest.raises(InputError, match="horizon: the run has too many ticks"):
        news("chrome", sheet(ticks(5_000), pages="none"))
    assert (
        "ticks"
        not in json.loads(only(Made, news("json", sheet(ticks(5_000), pages="none"))).text)["runs"]["static"]
    )


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("", "ticklab"),
        ("../../etc/passwd", "ticklab-etc-passwd"),
        ("<img src=x onerror=alert(1)>.csv", "ticklab-img-src-x-onerror-alert-1"),
        ("我的 trace.csv", "ticklab-我的-trace"),
        ("a" * 200, "ticklab-" + "a" * 60),
        ("\r\nSet-Cookie: x", "ticklab-Set-Cookie-x"),
        ("...", "ticklab"),
        ("con.json", "ticklab-con"),
    ],
)
def test_a_file_name_is_safe(text: str, name: str) -> None:
    assert safe_name(text) == name


# ---- C13: text of a visitor is text everywhere ---------------


def test_markup_stays_text_in_every_table() -> None:
    trace = json.dumps(
        [{"id": SCRIPT, "arrival": 0, "prompt_tokens": 25, "output_tokens": 2, "prompt": SCRIPT}]
    )
    kept = setup(trace.replace('"output_tokens": 2', '"output_tokens": 3'), name=EVIL, title=EVIL)
    one = sheet(trace, name=EVIL, title=SCRIPT, of={"mode": "compare", "kept": kept})
    figures = only(Figures, news("play", one))
    seen = only(Seen, news("look", one))
    for html, texts in (
        (figures.html, (EVIL, SCRIPT)),
        (figures.details, (EVIL, SCRIPT)),
        (seen.html, (EVIL, SCRIPT)),
    ):
        tags = Tags(html)
        assert not {"script", "img"} & set(tags.tags)
        for text in texts:
            assert text in tags.text
    assert [run["timeline"]["title"] for run in drawn(figures)] == [f"A · {EVIL}", f"B · {SCRIPT}"]
    assert figures.page["prompts"] == {SCRIPT: SCRIPT}


def test_markup_as_a_column_or_a_file_is_quoted_in_the_error() -> None:
    with pytest.raises(InputError) as error:
        news("look", sheet(f"{SCRIPT},b\n1,2", name=f"{EVIL}.csv"))
    assert f"{EVIL}.csv: its columns ({SCRIPT}, b)" in str(error.value)


def test_a_model_column_is_passed_over() -> None:
    trace = f"id,arrival,prompt_tokens,output_tokens,model\nR01,0,3,2,{SCRIPT}"
    assert SCRIPT not in only(Figures, news("play", sheet(trace))).html


# ---- for the torch engine ---------------


def test_what_the_engine_has_to_run() -> None:
    found = only(Prepared, news("prepare", sheet(of={"engine": "int8", "horizon": "0.55"})))
    assert found.ticks == 6
    assert [spec.weights for _, spec in found.runs.values()] == ["int8"] * 3
    assert [r.prompt for r in found.runs["static"][1].requests][:2] == ["To be, or not to b", "My lor"]


def test_lengths_get_prompts() -> None:
    found = only(Prepared, news("prepare", sheet(rows([("R01", 0, 9, 2)]), of={"engine": "fp32"})))
    assert len(found.runs["static"][1].requests[0].prompt) == 9


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (sheet(pages="none"), "pages: an unlimited pool is too large"),
        (sheet(pages="3000"), "pages: a pool of 12000 tokens is too large"),
        (
            sheet(rows((f"R{n}", 0, 1, 1) for n in range(201))),
            "it has 201 requests; the torch engine takes 200",
        ),
    ],
)
def test_what_the_engine_does_not_take_here(one: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        news("prepare", one)
