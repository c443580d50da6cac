"""What one sees at a glance: nothing touches or is cut off on a phone, and the theme holds everywhere."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.serving import Serving
from tests.ui.learner import Learner
from tests.ui.walking import to_the_verdict

pytestmark = pytest.mark.ui

PHONE = {"width": 390, "height": 844}
PAPER = "getComputedStyle(document.body).backgroundColor"
# How far the words at the head of a row reach over what is beside them, in pixels.
OVER = """(head) => {
  const range = document.createRange()
  range.selectNodeContents(head)
  return range.getBoundingClientRect().right - head.getBoundingClientRect().right
}"""
CUT = "(one) => one.scrollWidth - one.clientWidth"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_on_a_phone_the_trace_fits_and_no_label_touches_a_bar(
    learners: Callable[..., Learner], lab: Serving, language: str
) -> None:
    learner = learners(lab, viewport=PHONE)
    learner.open(f"?lang={language}")
    assert learner.find(".given .region").evaluate(CUT) <= 0
    learner.predict(f"?lang={language}")
    learner.run()
    rows = learner.find("#pictures tr.ms th")
    expect(rows).to_have_count(3)
    assert all(row.evaluate(OVER) <= 0 for row in rows.all())


@pytest.mark.parametrize(("name", "tables"), [("gigabyte", 1), ("little", 2)])
def test_only_answers_read_off_a_run_have_the_table_of_runs(learner: Learner, name: str, tables: int) -> None:
    to_the_verdict(learner, name)
    expect(learner.find("#verdict-content table")).to_have_count(tables)


@pytest.mark.parametrize("path", ["lab/calculators", "lab/design", "app?play="])
def test_a_theme_chosen_on_any_page_holds_on_all(learner: Learner, lab: Serving, path: str) -> None:
    page = learner.page
    page.goto(f"{lab.url}/{path}")
    light = page.evaluate(PAPER)
    page.locator("#theme").select_option("dark")
    dark = page.evaluate(PAPER)
    assert dark != light
    learner.open()
    assert page.evaluate(PAPER) == dark
    expect(page.locator("#theme")).to_have_value("dark")


@pytest.mark.parametrize("path", ["lab/calculators", "lab/design"])
def test_without_a_script_no_theme_is_offered(
    learners: Callable[..., Learner], lab: Serving, path: str
) -> None:
    learner = learners(lab, java_script_enabled=False)
    learner.page.goto(f"{lab.url}/{path}")
    expect(learner.find("h1")).to_be_visible()
    expect(learner.find("#theme")).to_be_hidden()
