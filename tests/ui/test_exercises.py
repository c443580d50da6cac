"""Other exercises, opened by their address: from the first page to the verdict."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from puzzles import fields, load, solve
from tests.ui.learner import Learner

pytestmark = pytest.mark.ui


def predict(learner: Learner, name: str) -> None:
    """Lock the right answers of the exercise."""
    learner.read(f"?ex={name}&lang=en")
    correct = solve(load(name))
    for key in load(name).required:
        answer(learner, key, str(correct[key]))
    learner.lock()


def answer(learner: Learner, key: str, text: str) -> None:
    """A number is typed, a choice is chosen."""
    box = learner.find(f"#predict input[name='{key}']")
    if box.first.get_attribute("type") == "radio":
        learner.find(f"#predict input[name='{key}'][value='{text}']").check()
    else:
        box.fill(text)


@pytest.mark.parametrize(
    ("name", "seen", "shown"),
    [
        ("censored-p95", "0.38", ["until 1.0 s", "≥ 1.00"]),
        ("policy-without-memory", "1.08", ["3 of 3 right"]),
    ],
)
def test_another_exercise_goes_all_the_way(learner: Learner, name: str, seen: str, shown: list[str]) -> None:
    predict(learner, name)
    expect(learner.find("h1")).to_have_text(load(name).words("en")("title"))
    learner.step()
    learner.run()
    learner.observe(seen)
    for text in shown:
        expect(learner.find("#verdict-content")).to_contain_text(text)
    expect(learner.find("#predict")).to_be_hidden()


def test_the_list_leads_to_another_exercise_and_back(learner: Learner) -> None:
    learner.read()
    learner.find("details.contents summary").click()
    expect(learner.find(".contents a[aria-current=page]")).to_contain_text("A long request at the door")
    learner.find(".contents a").filter(has_text="A pace has no past").click()
    learner.ready()
    learner.at("read")
    expect(learner.find("h1")).to_have_text("A pace has no past")
    learner.find("details.contents summary").click()
    learner.press("Escape")
    expect(learner.find(".contents nav")).to_be_hidden()
    learner.open()
    learner.at("predict")


APART = """(boxes) => boxes.filter((one) => one.offsetParent).map((one) => one.getBoundingClientRect())
  .every((a, place, all) => all.slice(place + 1).every((b) =>
    a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top))"""


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", ["ten-times-slower", "which-tpot", "ttft-split"])
def test_a_grid_of_many_figures_stays_readable(learner: Learner, name: str, width: int) -> None:
    """Each box by itself, with a name of the field's language; a request has the colour of the trace."""
    learner.page.set_viewport_size({"width": width, "height": 844})
    learner.read(f"?ex={name}&lang=zh")
    learner.find("#predict .intro button").click()
    boxes = learner.find("#predict .box input")
    assert boxes.count() > 3
    assert boxes.evaluate_all(APART)
    assert learner.page.evaluate("document.documentElement.scrollWidth") == width
    exercise = load(name)
    words = exercise.words("zh")
    for field in (one for one in fields(exercise) if one.request and one.policy):
        cell = learner.find(f"input[name='{field.key}']")
        expect(cell).to_have_accessible_name(re.compile(re.escape(words(f"short.{field.metric}"))))
        place = [one.id for one in exercise.requests].index(field.request or "")
        expect(learner.find(f"#predict tr.r{place}").filter(has=cell)).to_have_count(1)
