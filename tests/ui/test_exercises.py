"""Other exercises, opened by their address: from the first page to the verdict."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from puzzles import load, solve
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
