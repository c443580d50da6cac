"""What holds for every exercise of the course: the six steps work, every belief has words and rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import History, simulate
from engine.words import LANGUAGES
from puzzles import fields, histories, load, names, parse, policy_table, runs, solve, verdict
from puzzles.comparison import compared
from puzzles.console import example_of, judgement, question, solution
from puzzles.course import FOLDER, course
from puzzles.evidence import MOST
from puzzles.judging import of_runs
from puzzles.mistakes import beliefs_of
from puzzles.site.belief_section import examples
from puzzles.words import DASH

BOTH = pytest.mark.parametrize("language", LANGUAGES)
EVERY = pytest.mark.parametrize("name", names())


def test_every_file_has_its_place_in_the_course_and_its_own_name() -> None:
    files = {path.stem for path in FOLDER.glob("*.toml")} - {"course"}
    assert files == set(names())
    assert len(names()) == len(set(names()))
    assert all(load(name).name == name for name in names())


def test_the_main_path_is_the_nine_with_the_strongest_surprise() -> None:
    path = next(room for room in course().rooms if room.name == "path")
    assert {item for name in path.exercises for item in load(name).items} == {
        1,
        5,
        10,
        14,
        18,
        23,
        25,
        37,
        40,
    }
    assert len(path.exercises) == 9


@EVERY
def test_what_the_page_needs_is_there(name: str) -> None:
    """A field to read off the timeline, and runs to set side by side in the first part."""
    one = load(name)
    found = {field.key: field for field in fields(one)}
    assert one.observe is not None
    assert found[one.observe].choices is None
    assert found[one.observe].request is not None
    assert any(field.policy for field in found.values() if field.part == one.parts[0].name)
    assert any(field.required for field in found.values())
    assert compared(one)


@EVERY
@BOTH
def test_right_answers_are_right(name: str, language: str) -> None:
    one = load(name)
    correct = solve(one)
    answers = {key: value for key, value in correct.items() if value is not None}
    judged = verdict(one, answers, histories(one), language)
    assert judged.score == judged.asked == len(correct)
    assert all(item.derivation and DASH not in item.derivation for item in judged.items)
    assert all(item.label and "{" not in item.label + item.derivation for item in judged.items)
    assert policy_table(one, histories(one), one.words(language)).rows


@EVERY
def test_what_is_shown_can_be_typed(name: str) -> None:
    """A learner who types the printed value is right, but for what printing rounds away."""
    one = load(name)
    correct = solve(one)
    typed = {
        field.key: value if isinstance(value, str) else f"{value:.6g} {field.unit}"
        for field in fields(one)
        if (value := correct[field.key]) is not None
    }
    answers, problems = parse(one, typed)
    assert problems == {}
    assert verdict(one, answers, histories(one), "en").score == len(correct)


@EVERY
def test_a_run_that_goes_on_after_its_window_is_judged_by_the_window(name: str) -> None:
    """The page runs everything to the end; only what was seen by the horizon counts."""
    one = load(name)
    to_the_end: dict[str, History] = {spec.name: simulate(spec.requests, spec.service) for spec in runs(one)}
    assert solve(one, to_the_end) == solve(one)


@EVERY
@BOTH
def test_every_belief_is_named_with_words_and_rows(name: str, language: str) -> None:
    one, found = load(name), histories(load(name))
    shown = examples(one, solve(one))
    own = {wrong.name for wrong in one.wrong}
    assert shown.keys() >= own, "a belief of the file betrays itself nowhere"
    for belief, (field, given) in shown.items():
        item = next(i for i in verdict(one, {field.key: given}, found, language).items if i.key == field.key)
        assert item.belief is not None
        assert item.belief.name == belief
        assert "{" not in item.belief.title + item.belief.sentence
        about_a_run = field.value is None or of_runs(field.value, found)
        assert int(about_a_run) <= len(item.belief.evidence) <= MOST


@EVERY
def test_items_of_beliefs_are_items_of_the_exercise(name: str) -> None:
    one = load(name)
    assert all(wrong.item is None or wrong.item in one.items for wrong in one.wrong)
    assert all(belief.number is None or belief.number for belief in beliefs_of(one))


@EVERY
@BOTH
def test_the_command_line_asks_and_solves(name: str, language: str) -> None:
    one = load(name)
    asked, solved = question(one, language), solution(one, language)
    for field in fields(one):
        assert field.key in asked
        assert field.key in solved
    first = next(field for field in fields(one) if field.required)
    given = first.choices[0] if first.choices else f"0 {first.unit}"
    assert first.key in judgement(one, [f"{first.key}={given}"], language)


@EVERY
def test_the_example_of_how_to_answer_is_not_the_answer(name: str) -> None:
    one = load(name)
    key, _, text = example_of(fields(one)).partition("=")
    answers, problems = parse(one, {key: text}, required=False)
    assert problems == {}
    assert verdict(one, answers, histories(one), "en").score == 0


@EVERY
def test_a_file_is_small(name: str) -> None:
    assert len((FOLDER / f"{name}.toml").read_text("utf-8").splitlines()) < 200


def test_no_answer_is_typed_in() -> None:
    """Expressions hold names; the numbers in them are what the question is about, not what comes out."""
    for name in names():
        for ask in load(name).asks:
            assert any(char.isalpha() for char in ask.value), f"{name}: {ask.key}"


def test_the_folder_holds_data_only() -> None:
    assert {path.suffix for path in Path(FOLDER).iterdir()} <= {".toml", ".md"}
