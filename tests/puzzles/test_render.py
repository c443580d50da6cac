"""The fragments that the live page shows as tables: complete, escaped, and valid inside a page."""

from __future__ import annotations

import msgspec
import pytest

from engine import History, Request, Service, simulate
from engine.records import Work
from engine.traces import main_trace
from engine.words import LANGUAGES
from puzzles import histories, load, puzzle_words, verdict
from puzzles.page_counts import page_counts
from puzzles.render import (
    belief_block,
    evidence_table,
    items_table,
    log_table,
    metrics_table,
    page_counts_table,
    pages_table,
    requests_table,
    rule_card,
    story_table,
    strip_table,
    table_styles,
    timeline_table,
    trace_table,
)
from puzzles.render.helpers import FULL, boxes, filled, signed
from puzzles.views import log, page_map, story, strip, timeline
from puzzles.views.model import CELL_KINDS, Page, PageFrame
from tests.puzzles.html import Page as Read

MAIN = load("main")
RUNS = histories(MAIN)


def spoken(history: History) -> History:
    """The run as an engine would have recorded it: bytes that need escaping, and measured ticks."""
    records = [
        msgspec.structs.replace(
            record,
            emitted=tuple((key, index, ord("<")) for key, index, _ in record.emitted),
            work=Work(1, 20, 1000, 1.25) if record.emitted else None,
        )
        for record in history.records
    ]
    return History(history.service, history.requests, records)


def fragments(language: str) -> dict[str, str]:
    words, run = puzzle_words(language), spoken(RUNS["static"])
    found = verdict(MAIN, {"static.R02.ttft": 0.1, "p95.best": "continuous"}, RUNS, language)
    hit = next(item.belief for item in found.items if item.belief is not None)
    return {
        "timeline": timeline_table(timeline(run, "static", words), language, why=True),
        "pages": pages_table(page_map(run, "static", words), language),
        "contiguous": pages_table(page_map(RUNS["contiguous"], "contiguous", words), language, ticks=[0, 4]),
        "strip": strip_table(strip(run, "static", words), language),
        "log": log_table(log(run, "static", words), language),
        "story": story_table(story(run, "static", words), language),
        "metrics": metrics_table(found.table, language),
        "items": items_table(found, language),
        "all items": items_table(found, language, answered=False),
        "evidence": evidence_table(hit.evidence, language),
        "belief": belief_block(hit, language),
        "counts": page_counts_table(page_counts(RUNS, words), language),
        "requests": requests_table(run, "static", language),
        "trace": trace_table(MAIN, language),
        "rules": rule_card(MAIN, language),
    }


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_fragment_is_valid(language: str) -> None:
    for name, fragment in fragments(language).items():
        page = Read(f"<!DOCTYPE html>\n<html lang='x'><body><main>{fragment}</main></body></html>")
        assert page.errors == [], name
        assert page.count("table") == page.count("caption"), name
        assert "{" not in fragment, name


def test_the_timeline_says_why_and_how_long() -> None:
    table = fragments("en")["timeline"]
    assert 'title="Waits for the running batch to end.' in table
    assert table.count('<td class="k-waiting"') == 28
    assert ">1.2<" in table
    assert 'class="legend' in table


def test_what_the_model_says_is_escaped() -> None:
    table = fragments("en")["log"]
    assert "<q>&lt;</q>" in table
    assert "<q><</q>" not in table


def test_a_hostile_name_is_escaped_everywhere() -> None:
    name = "<script>alert(1)</script>"
    run = simulate([Request(name, "0", 3, 2)], Service())  # type: ignore[arg-type]
    words = puzzle_words("en")
    for table in (
        timeline_table(timeline(run, name, words), "en", why=True),
        pages_table(page_map(run, name, words), "en"),
        log_table(log(run, name, words), "en"),
        story_table(story(run, name, words), "en"),
        requests_table(run, name, "en"),
    ):
        assert "<script" not in table
        assert "&lt;script&gt;" in table


def test_chosen_ticks_only() -> None:
    assert fragments("en")["contiguous"].count('<th scope="row">') == 2


def test_only_what_was_answered_is_judged() -> None:
    found = fragments("en")
    assert found["items"].count('<th scope="row">') == 2
    assert found["all items"].count('<th scope="row">') == 31


def test_a_view_without_ticks_is_a_table_too() -> None:
    empty = History(Service(), {request.id: request for request in main_trace()}, [])
    words = puzzle_words("en")
    assert "R04" in timeline_table(timeline(empty, "static", words), "en")
    assert "<table" in pages_table(page_map(empty, "static", words), "en")
    assert "<table" in log_table(log(empty, "static", words), "en")


def test_the_bar_is_empty_or_full_only_when_the_page_is() -> None:
    assert [filled(Page("R01", written, 4, "")) for written in range(5)] == [0, 3, 6, 9, FULL]
    assert filled(Page("R01", 1, 100, "")) == 1
    assert filled(Page("R01", 99, 100, "")) == FULL - 1


def test_free_pages_side_by_side_are_one_box() -> None:
    pages = (Page("R01", 4, 4, ""), Page(None, 0, 4, ""), Page(None, 0, 4, ""), Page("R02", 1, 4, ""))
    frame = PageFrame(0, pages, 8, 5, 5, 2)
    assert [(box.owner, box.slots) for box in boxes(frame)] == [("R01", 4), (None, 8), ("R02", 4)]


def test_differences_carry_their_sign() -> None:
    assert [signed(value, "s") for value in (1.1, -1.1, 0.0, None)] == ["+1.10", "−1.10", "±0.00", "—"]


def test_differences_are_as_exact_as_the_values() -> None:
    assert [signed(value, "requests") for value in (2.0, 0.0)] == ["+2", "±0"]
    assert signed(-262_141.0, "B") == "−262,141"
    assert signed(1.9258, "GB") == "+1.926"


def test_the_stylesheet_knows_every_kind_of_cell_and_every_bar() -> None:
    style = table_styles()
    assert [kind for kind in CELL_KINDS if f".k-{kind}" not in style] == []
    assert [step for step in range(1, FULL + 1) if f".f{step}[" not in style] == []


@pytest.mark.parametrize(("language", "said"), [("en", "p95 TTFT"), ("zh", "p95 TTFT")])
def test_a_choice_is_called_as_its_exercise_calls_it(language: str, said: str) -> None:
    """The choices of “rush-hour” have words of their own."""
    exercise = load("rush-hour")
    judged = verdict(exercise, {"grows": "ttft"}, histories(exercise), language)
    html = items_table(judged, language, words=exercise.words(language))
    assert f'<td class="number">{said}</td>' in html
    assert ">ttft<" not in html
