"""The page for everybody: without a script, on a phone, in the dark, for a screen reader."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.serving import Serving
from tests.ui.learner import Learner

pytestmark = pytest.mark.ui


def steps(learner: Learner, query: str = "") -> Iterator[str]:
    """Takes the learner through the lesson and stops at each step."""
    learner.open(query)
    yield "read"
    learner.read(query)
    yield "predict"
    learner.fill()
    learner.lock()
    learner.step()
    yield "run"
    learner.run()
    yield "observe"
    learner.observe()
    yield "verdict"


def findings(page: Page) -> list[str]:
    """What axe finds serious or critical."""
    result = Axe().run(page).response
    return [
        f"{one['id']} ({one['impact']}): {[node['target'] for node in one['nodes']][:3]}"
        for one in result["violations"]
        if one["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize(("language", "scheme"), [("en", "light"), ("zh", "dark")])
def test_axe_finds_nothing_serious(
    learners: Callable[..., Learner], lab: Serving, language: str, scheme: str
) -> None:
    learner = learners(lab, color_scheme=scheme)
    for step in steps(learner, f"?lang={language}"):
        learner.page.wait_for_timeout(300)
        assert findings(learner.page) == [], step


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_phone_never_scrolls_sideways(
    learners: Callable[..., Learner], lab: Serving, language: str
) -> None:
    learner = learners(lab, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    for step in steps(learner, f"?lang={language}"):
        width = learner.page.evaluate("document.scrollingElement.scrollWidth")
        assert width <= 390, step


def test_without_a_script_the_exercise_can_be_read(learners: Callable[..., Learner], lab: Serving) -> None:
    learner = learners(lab, java_script_enabled=False)
    learner.page.goto(lab.page)
    for text in ("R01", "R04", "0.38", "24 prompt tokens"):
        expect(learner.find("main").get_by_text(text).first).to_be_visible()
    expect(learner.find("[data-command=read]")).to_be_hidden()
    learner.find("main").get_by_role("link", name="Read the lesson without JavaScript").click()
    expect(learner.find("h1")).to_be_visible()
    assert "/read/en/" in learner.page.url


def test_the_theme_is_chosen_and_kept(learner: Learner) -> None:
    learner.open()
    paper = "getComputedStyle(document.body).backgroundColor"
    light = learner.page.evaluate(paper)
    learner.find("#theme").select_option("dark")
    dark = learner.page.evaluate(paper)
    assert light != dark
    learner.reload()
    assert learner.page.evaluate(paper) == dark
    expect(learner.find("#theme")).to_have_value("dark")


def test_every_step_is_named_in_the_strip(learner: Learner) -> None:
    names = []
    for _ in steps(learner):
        current = learner.find("#steps [aria-current=step]")
        expect(current).to_have_count(1)
        names.append(current.inner_text().split("\n")[-1])
    assert [name.split()[-1] for name in names] == ["Read", "Predict", "Run", "Observe", "Verdict"]


def test_the_focus_follows_the_step(learner: Learner) -> None:
    learner.predict()
    assert "step" in learner.focused()["classes"]
    learner.run()
    assert learner.focused()["id"] == "observe-title"
    learner.observe()
    assert learner.focused()["id"] == "verdict-title"


def test_an_empty_form_is_told_what_it_needs(learner: Learner) -> None:
    """Nothing typed is an answer of the server too, and so is everything deleted again."""
    learner.read("?ex=tpot")
    summary = learner.find("#predict .summary")
    learner.find("#predict button[type=submit]").click()
    expect(summary).to_be_focused()
    expect(summary.get_by_role("button")).to_have_count(2)
    cell = learner.find("#predict input[name='static.R02.tpot']")
    cell.fill("0.1")
    cell.fill("")
    learner.find("#predict button[type=submit]").click()
    expect(summary).to_be_focused()
    expect(summary.get_by_role("button")).to_have_count(2)


@pytest.mark.parametrize(("language", "meaning"), [("en", "Queueing is in it"), ("zh", "排队和 prefill")])
def test_a_term_is_explained_where_it_is_first_met(learner: Learner, language: str, meaning: str) -> None:
    learner.open(f"?lang={language}")
    terms = learner.find("#read details.terms")
    expect(terms.locator("dl")).to_be_hidden()
    terms.locator("summary").click()
    expect(terms.locator("dt").filter(has_text="TTFT")).to_be_visible()
    expect(terms.locator("dd").filter(has_text=meaning)).to_be_visible()
    for name in ("TPOT", "p95", "SLO", "goodput", "KV cache"):
        expect(terms.locator("dt").filter(has_text=re.compile(rf"^{name}\b"))).to_have_count(1)
    terms.get_by_role("link").click()
    expect(learner.find("dt#ttft")).to_be_visible()
