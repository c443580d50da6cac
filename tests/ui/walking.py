"""A learner who knows the answers: walks an exercise to its verdict."""

from __future__ import annotations

from playwright.sync_api import expect

from puzzles import fields, load, solve
from puzzles.asking import Field
from tests.ui.learner import Learner


def required(name: str) -> dict[str, tuple[Field, str]]:
    """What must be answered, with the right answer as typed."""
    exercise = load(name)
    correct = solve(exercise)
    return {field.key: (field, str(correct[field.key])) for field in fields(exercise) if field.required}


def seen(name: str) -> str:
    """The right reading of the number that is observed."""
    exercise = load(name)
    return str(solve(exercise)[exercise.observe or ""])


def answer(learner: Learner, name: str) -> None:
    """Every required answer, right, by pointer."""
    for key, (field, text) in required(name).items():
        if field.choices is None:
            learner.find(f"#predict input[name='{key}']").fill(text)
        else:
            learner.find(f"#predict input[name='{key}'][value='{text}']").check()


def to_the_verdict(learner: Learner, name: str, query: str = "") -> None:
    """From the first page to the verdict, with nothing wrong."""
    learner.read(f"?ex={name}{query}")
    answer(learner, name)
    learner.lock()
    learner.run()
    learner.observe(seen(name))
    expect(learner.find("#verdict-content .wrong")).to_have_count(0)


def type_answers(learner: Learner, name: str) -> None:
    """Every required answer, right, by keyboard: Tab from field to field, arrows within a choice."""
    for key, (field, text) in required(name).items():
        learner.tab_to(name=key)
        if field.choices is None:
            learner.page.keyboard.type(text)
        else:
            learner.press("Space", *["ArrowDown"] * field.choices.index(text))
