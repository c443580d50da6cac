"""The views say what the records say, tick by tick; a part of a run gives a part of its views."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import History, Request, Service, TickRecord, simulate
from engine.traces import main_trace
from engine.words import LANGUAGES
from puzzles.views import log, page_map, run_view, run_views, story, strip, timeline
from puzzles.views.model import CELL_KINDS
from puzzles.views.page_maps import ranges
from puzzles.views.speech import PLACEHOLDER, Speaker
from puzzles.words import puzzle_words
from tests.puzzles.runs import histories

WORDS = puzzle_words("en")
WORKING = {"prefill", "recompute", "first", "decode", "last"}


def letters(history: History, key: str) -> str:
    rows = {row.id: row for row in timeline(history, "static", WORDS).rows}
    return "".join(cell.letter or "." for cell in rows[key].cells)


def test_the_static_timeline() -> None:
    history = simulate(main_trace(), Service(policy="static"))
    assert letters(history, "R01") == "FDDDDDDDDDDL..."
    assert letters(history, "R02") == ".wwwwwwwwwwwFLs"
    assert letters(history, "R03") == "...wwwwwwwwwFDL"
    assert letters(history, "R04") == "....wwwwwwwwFLs"


def test_the_slow_timeline_shows_who_is_held_up() -> None:
    assert letters(simulate(main_trace(), Service(tick="1.0")), "R04") == ".FbL........"  # type: ignore[arg-type]


def test_a_prompt_in_parts_and_a_preemption_have_letters_of_their_own() -> None:
    parts = simulate(main_trace(), Service(prefill_budget=8))
    assert letters(parts, "R01").startswith("PPF")
    tight = simulate(main_trace(), Service(kv_reserve="on_demand", pages=11, page_size=3, tick="1.0"))  # type: ignore[arg-type]
    assert any("X" in letters(tight, key) and "R" in letters(tight, key) for key in tight.requests)


def test_a_refused_request_is_shown_once() -> None:
    history = simulate([*main_trace(), Request("R05", "0.1", 60, 60)], Service())  # type: ignore[arg-type]
    assert letters(history, "R05").strip(".") == "N"


@given(histories())
@settings(deadline=None, max_examples=60)
def test_cells_follow_the_records(history: History) -> None:
    view = timeline(history, "any", WORDS)
    assert [row.id for row in view.rows] == list(history.requests)
    for row in view.rows:
        assert [cell.tick for cell in row.cells] == [record.tick for record in history.records]
        for cell, record in zip(row.cells, history.records, strict=True):
            assert cell.kind in CELL_KINDS
            assert cell.why
            works = row.id in dict(record.decode) or row.id in {name for name, *_ in record.prefill}
            assert (cell.kind in WORKING) == works
            assert (cell.tokens > 0) == works
            assert (cell.kind == "last") == (row.id in dict(record.finished))


@given(histories())
@settings(deadline=None, max_examples=60)
def test_pages_add_up_to_the_record(history: History) -> None:
    view = page_map(history, "any", WORDS)
    for frame, record in zip(view.frames, history.records, strict=True):
        owned = [page for page in frame.pages if page.owner is not None]
        assert sum(page.slots for page in frame.pages) == history.service.slots
        assert {page.owner for page in owned} == {key for key, table in record.pages.items() if table}
        assert sum(page.written for page in owned) == record.written
        assert all(0 <= page.written <= page.slots for page in frame.pages)
        assert (frame.reserved, frame.held, frame.written) == (record.reserved, record.held, record.written)


@given(histories())
@settings(deadline=None, max_examples=40)
def test_the_strip_never_exceeds_its_ledgers(history: History) -> None:
    for gauge in strip(history, "any", WORDS).frames:
        assert 0 <= gauge.prefill <= gauge.prefill_budget
        assert 0 <= gauge.decode <= gauge.decode_slots
        assert gauge.pool == history.service.slots


@given(histories(), st.data())
@settings(deadline=None, max_examples=40)
def test_a_part_of_a_run_is_the_first_part_of_its_views(history: History, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(history.records)))
    whole, part = run_view(history, "any", "zh"), run_view(first(history, cut), "any", "zh")
    assert part.strip.frames == whole.strip.frames[:cut]
    assert part.pages.frames == whole.pages.frames[:cut]
    assert part.log.frames == whole.log.frames[:cut]
    assert [row.cells for row in part.timeline.rows] == [row.cells[:cut] for row in whole.timeline.rows]
    assert whole.done
    assert part.done == (not any(record.finished or record.refused for record in history.records[cut:]))


def first(history: History, ticks: int) -> History:
    return replace(history, records=history.records[:ticks])


@given(histories())
@settings(deadline=None, max_examples=40)
def test_a_story_covers_every_tick_once(history: History) -> None:
    for key in history.requests:
        spans = [span for span in story(history, "any", WORDS).spans if span.id == key]
        ticks = [tick for span in spans for tick in range(span.first, span.last + 1)]
        assert ticks == sorted(set(ticks))
        cells = next(row.cells for row in timeline(history, "any", WORDS).rows if row.id == key)
        assert set(ticks) >= {cell.tick for cell in cells if cell.kind != "away"}


def test_the_log_speaks_both_languages() -> None:
    history = simulate(main_trace(), Service(policy="static"))
    for language in LANGUAGES:
        frame = log(history, "static", puzzle_words(language)).frames[4]
        assert any("R04" in line and "0.38" in line for line in frame.lines)
        assert not any("{" in line for line in frame.lines)


def test_a_page_that_several_use_names_them_all() -> None:
    same = [Request(f"R0{n}", "0", 8, 3, "To be, o") for n in (1, 2)]  # type: ignore[arg-type]
    later = msgspec.structs.replace(same[1], arrival=Decimal("0.1"))
    history = simulate([same[0], later], Service(prefix_cache=True))
    shared = [page for page in page_map(history, "any", WORDS).frames[1].pages if page.sharers]
    assert [(page.owner, page.sharers) for page in shared] == [("R01", ("R02",))]


def test_titles_are_texts_and_unknown_runs_go_by_their_name() -> None:
    history = simulate(main_trace(), Service())
    assert timeline(history, "continuous", WORDS).title == WORDS("run.continuous")
    assert timeline(history, "mine", WORDS).title == "mine"
    assert run_views({"mine": history}, "en")["mine"].strip.title == "mine"


def test_page_numbers_are_short() -> None:
    assert ranges([0, 1, 2, 5, 7, 8]) == "0–2, 5, 7–8"


# ---- what is said ---------------------------------------------------------------------------------


def said(prompt: str | tuple[int, ...], tokens: list[int | None]) -> str:
    length = len(prompt.encode()) if isinstance(prompt, str) else len(prompt)
    speaker = Speaker(Request("R01", "0", length, 9, prompt))  # type: ignore[arg-type]
    for token in tokens:
        speaker.hear([token])
    return speaker.said().text


def test_ledger_tokens_are_counted_with_a_placeholder() -> None:
    assert said("a", [None, None]) == PLACEHOLDER * 2


def test_a_character_is_held_back_until_it_is_whole() -> None:
    moon = list("月光".encode())
    assert [said("a", moon[:n]) for n in range(7)] == ["", "", "", "月", "月", "月", "月光"]


def test_a_character_that_the_prompt_began_is_completed() -> None:
    moon = "月".encode()
    assert said(tuple(moon[:2]), [moon[2], 33]) == "月!"


def test_bytes_that_are_no_text_are_shown_as_such_and_control_characters_as_pictures() -> None:
    assert said("a", [0xFF, 65]) == "\N{REPLACEMENT CHARACTER}A"
    assert said("a", [0, 7, 10, 127]) == "␀␇\n␡"


GOOD = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\N{REPLACEMENT CHARACTER}"))


@given(GOOD, st.integers(1, 40))
def test_good_text_never_turns_into_a_replacement_sign(text: str, cut: int) -> None:
    """Wherever the prompt ends, also inside a character: every character of the output comes out whole."""
    data = ("x" + text).encode()
    assert "\N{REPLACEMENT CHARACTER}" not in said(tuple(data[:cut]), list(data[cut:]))


def test_bytes_are_kept_beside_the_text() -> None:
    record: TickRecord = simulate(main_trace(), Service()).records[0]
    speaking = replace_tokens(record, 104)
    history = History(Service(), {"R01": main_trace()[0]}, [speaking])
    frame = log(history, "any", WORDS).frames[0]
    assert (frame.speech[0].text, frame.speech[0].data) == ("h", (104,))


def replace_tokens(record: TickRecord, token: int) -> TickRecord:
    emitted = tuple((key, index, token) for key, index, _ in record.emitted)
    return msgspec.structs.replace(record, emitted=emitted)
