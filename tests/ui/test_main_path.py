"""The nine exercises of the main path, in order, by keyboard, in both languages; and what is kept of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from puzzles import field_of, fields, histories, load, solve
from puzzles.course import course
from puzzles.judging import case_of, shown
from tests.serving import Serving
from tests.ui.learner import Learner
from tests.ui.walking import answer, required, seen, to_the_verdict, type_answers

pytestmark = pytest.mark.ui
PATH = next(room.exercises for room in course().rooms if room.name == "path")
# Another try is a page of its own: the page before it, which is left, does not begin it.
WATCH = """() => new MutationObserver(() => sessionStorage.setItem("moved", "here"))
  .observe(document.documentElement, { attributes: true, attributeFilter: ["data-step"] })"""
MARKS = {"en": ("begun", "prediction locked", "verdict seen"), "zh": ("已开始", "预测已锁定", "已看对照")}


def question_of(name: str) -> str:
    """The key of what is asked beside the answers: that of the first part, else of the whole exercise."""
    exercise = load(name)
    own = f"part.{exercise.parts[0].name}.ask"
    return own if own in exercise.texts["en"] else "lead"


def walk(learner: Learner, name: str, language: str) -> None:
    """One exercise, from reading to its verdict, with the keyboard."""
    exercise, words = load(name), load(name).words(language)
    learner.at("read")
    expect(learner.find("h1")).to_have_text(words("title"))
    learner.tab_to(command="read")
    learner.press("Enter")
    learner.at("predict")
    expect(learner.find("#predict")).to_contain_text(words(question_of(name)))
    type_answers(learner, name)
    learner.tab_to(type="submit")
    learner.press("Enter")
    learner.at("run")
    learner.press("End")
    learner.at("observe")
    learner.tab_to(id="observed")
    learner.page.keyboard.type(seen(name))
    learner.press("Enter")
    learner.at("verdict")
    verdict = learner.find("#verdict-content")
    expect(verdict.locator("table").first).to_be_visible()
    expect(verdict.locator(".wrong")).to_have_count(0)
    expect(verdict.locator(".yours .right")).to_have_count(len(required(name)))
    correct = solve(exercise)
    for key, (field, _) in required(name).items():
        expect(verdict).to_contain_text(shown(correct[key], field.unit, words))
    for said in case_of(exercise, histories(exercise), language).points.values():
        expect(verdict.locator(".points")).to_contain_text(said)
    observed = field_of(exercise, exercise.observe or "")
    expect(verdict.locator(".observed")).to_contain_text(shown(correct[observed.key], observed.unit, words))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_whole_path(learners: Callable[..., Learner], lab: Serving, language: str) -> None:
    """Nine verdicts, each all right; the list and the count keep up, and the link leads on."""
    learner = learners(lab)
    assert len(PATH) == 9
    learner.open(f"?ex={PATH[0]}&lang={language}")
    for place, name in enumerate(PATH, 1):
        walk(learner, name, language)
        expect(learner.find("#again .path")).to_contain_text(str(place))
        mark = learner.find(".contents a[aria-current=page] .mark")
        expect(mark).to_have_attribute("data-mark", "seen")
        learner.tab_to(classes="next")
        learner.press("Enter")
        if place < len(PATH):
            learner.page.wait_for_url(f"**?ex={PATH[place]}")
        learner.page.wait_for_function("name => !location.search.includes(`ex=${name}`)", arg=name)
        learner.ready()
    assert PATH[-1] not in learner.page.url
    marks = learner.find(".contents ol.numbered .mark")
    expect(marks).to_have_count(9)
    assert {one.get_attribute("data-mark") for one in marks.all()} == {"seen"}


def mark_of(learner: Learner, name: str) -> tuple[str | None, str]:
    """The mark of an exercise in the list, and its word."""
    entry = learner.find(f".contents a[href='?ex={name}'] .mark")
    return entry.get_attribute("data-mark"), entry.locator(".quiet").inner_text()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_list_says_how_far_each_exercise_is(
    learners: Callable[..., Learner], lab: Serving, language: str
) -> None:
    learner = learners(lab)
    begun, locked, verdict = MARKS[language]
    learner.open(f"?lang={language}")
    learner.find("details.contents summary").click()
    assert mark_of(learner, "tpot") == ("", "")
    learner.read("?ex=tpot")
    learner.find("details.contents summary").click()
    assert mark_of(learner, "tpot") == ("begun", begun)
    learner.press("Escape")
    answer(learner, "tpot")
    learner.lock()
    learner.find("details.contents summary").click()
    assert mark_of(learner, "tpot") == ("locked", locked)
    learner.press("Escape")
    learner.run()
    learner.observe(seen("tpot"))
    learner.find("details.contents summary").click()
    expect(learner.find(".contents a[aria-current=page] .mark")).to_have_attribute("data-mark", "seen")
    learner.open("?ex=main")
    learner.find("details.contents summary").click()
    assert mark_of(learner, "tpot") == ("seen", verdict)


def test_a_scored_try_that_is_all_right_is_marked(learner: Learner) -> None:
    to_the_verdict(learner, "tpot")
    learner.page.evaluate(WATCH)
    learner.find("[data-command=again]").click()
    learner.at("read")
    learner.ready()
    assert learner.page.evaluate("sessionStorage.getItem('moved')") is None
    seed = learner.server_seed("tpot")
    variant = load("tpot").variant(seed)
    correct = solve(variant)
    learner.find("[data-command=read]").click()
    learner.at("predict")
    for field in fields(variant):
        if field.required:
            learner.find(f"#predict input[name='{field.key}']").fill(str(correct[field.key]))
    learner.lock()
    learner.run()
    learner.observe(str(correct[variant.observe or ""]))
    expect(learner.find(".contents a[aria-current=page] .mark")).to_have_attribute("data-mark", "right")
    learner.reload()
    expect(learner.find(".contents a[aria-current=page] .mark")).to_have_attribute("data-mark", "right")


def test_the_plain_address_leads_back_to_where_one_was(learner: Learner) -> None:
    learner.open()
    expect(learner.find(".resume")).to_have_count(0)
    learner.read("?ex=short-prompt")
    expect(learner.find(".resume")).to_have_count(0)
    learner.open()
    learner.at("read")
    hint = learner.find(".resume")
    expect(hint).to_contain_text(load("short-prompt").words("en")("title"))
    hint.get_by_role("link").click()
    learner.ready()
    assert "ex=short-prompt" in learner.page.url
    learner.at("predict")


def test_after_a_verdict_the_plain_address_leads_to_the_next(learner: Learner) -> None:
    to_the_verdict(learner, PATH[0])
    learner.open()
    learner.find(".resume a").click()
    learner.ready()
    assert f"ex={PATH[1]}" in learner.page.url
