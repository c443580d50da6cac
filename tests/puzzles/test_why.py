"""“Why?” has one answer everywhere: each cell, each page, each event, each refusal, in both languages."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import History, Request, Service, explain
from engine.scheduling.explain import sentence
from engine.words import LANGUAGES, Catalogue, engine_words
from puzzles import histories, load, names
from puzzles.views import run_view
from puzzles.views.logs import concerned
from puzzles.views.model import RunView
from puzzles.words import puzzle_words
from tests.engine.driving import drive
from tests.engine.random_runs import cancellations, crowded, runs

ONE_OF_MANY = re.compile(
    r"(?<![\d.,])1 (adjacent |more |cached |KV |prompt |output )?(tokens|pages|slots|requests|ticks)\b"
    r"|(?<![\d.,])1 (requests|pages) are\b"
)
HAN = re.compile(r"[\u4e00-\u9fff]")


def check_sentence(text: str, language: str) -> None:
    """It is there, it is filled, it is of the language, it ends; and one thing is not spoken of as many."""
    assert text.endswith("." if language == "en" else "。"), text
    assert "{" not in text
    assert "None" not in text
    assert bool(HAN.search(text)) == (language == "zh"), text
    assert not ONE_OF_MANY.search(text), text


def check(history: History, language: str) -> RunView:
    view = run_view(history, "any", language)
    for row in view.timeline.rows:
        for cell in row.cells:
            check_sentence(cell.why, language)
    for frame in view.pages.frames:
        for text in (*(page.why for page in frame.pages), *frame.events):
            check_sentence(text, language)
    for frame in view.log.frames:
        for line in frame.lines:
            check_sentence(line, language)
    return view


def check_same(history: History, view: RunView, words: Catalogue) -> None:
    """The sentence of a cell is that of the log, and that of the reason."""
    for row in view.timeline.rows:
        for cell, record, told in zip(row.cells, history.records, view.log.frames, strict=True):
            if concerned(record, row.id):
                assert cell.why == sentence(explain(record, row.id), words)
                assert puzzle_words(words.language)("log.line", id=row.id, sentence=cell.why) in told.lines


def check_refusals(history: History, view: RunView) -> None:
    """Who is turned away is told with numbers, in the tick in which it happens."""
    rows = {row.id: row for row in view.timeline.rows}
    for place, record in enumerate(history.records):
        for key in record.refused:
            cell = rows[key].cells[place]
            assert cell.kind == "refused"
            assert len(re.findall(r"\d+", cell.why)) >= 2


@given(runs() | crowded(), st.data())
@settings(max_examples=100, deadline=None)
def test_everything_says_why(run: tuple[list[Request], Service], data: st.DataObject) -> None:
    trace, service = run
    history = drive(trace, service, cancels=data.draw(cancellations(trace)))
    for language in LANGUAGES:
        view = check(history, language)
        check_same(history, view, engine_words(language))
        check_refusals(history, view)


@pytest.mark.parametrize("name", names())
def test_every_run_of_the_course_says_why(name: str) -> None:
    for history in histories(load(name)).values():
        for language in LANGUAGES:
            check_same(history, check(history, language), engine_words(language))


@pytest.mark.parametrize(
    ("value", "text"),
    [(1, "1 token is left"), (2, "2 tokens are left"), ("1", "1 token is left"), (0, "0 tokens are left")],
)
def test_words_fit_the_number(value: object, text: str) -> None:
    words = Catalogue("en", {"left": "{n} {n:token is|tokens are} left", "pad": "{n:>3}|"})
    assert words("left", n=value) == text
    assert words("pad", n=7) == "  7|"
