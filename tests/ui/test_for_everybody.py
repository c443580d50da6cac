"""Projector, keys, zoom, less motion, calculators: the page wherever and however it is used."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.serving import Serving
from tests.ui.learner import Learner
from tests.ui.test_page import findings, steps

pytestmark = pytest.mark.ui
# Numbers that nothing on the page but this learner's own answers can show.
OWN = {"static.R02.ttft": "0.437", "continuous.R01.tpot": "0.0319"}
WHY = "because of the moon"


# ---- on the wall ----------------------------------------------------------------------------------


def to_the_wall(learner: Learner) -> None:
    """A verdict of a learner with answers that can be told apart, then the projector."""
    learner.read()
    learner.fill(**{key.replace(".", "__"): text for key, text in OWN.items()})
    learner.find("#predict #f-why").fill(WHY)
    learner.lock()
    learner.run()
    learner.observe("1.0777")
    learner.find("#projector").click()


READABLE = """() => {
  const found = [document.body.innerText]
  const visit = (root) => root.querySelectorAll("*").forEach((one) => {
    if (!one.checkVisibility()) return
    found.push(one.getAttribute("aria-label"), one.title, one.value)
    if (!one.shadowRoot) return
    const parts = [...one.shadowRoot.children].filter((part) => part.checkVisibility())
    found.push(...parts.map((part) => part.innerText))
    visit(one.shadowRoot)
  })
  visit(document)
  return found.filter((text) => typeof text === "string").join("\\n")
}"""
SIZES = """() => {
  const roots = [...document.querySelectorAll("*")].map((one) => one.shadowRoot).filter(Boolean)
  const px = (selector) => roots.flatMap((root) => [...root.querySelectorAll(selector)])
    .filter((one) => one.checkVisibility()).map((one) => parseFloat(getComputedStyle(one).fontSize))
  return {
    letters: px(".lab-timelines .letter"), log: px(".lab-log li"),
    figures: px(".lab-strip .figure"), pool: px(".lab-pages .figures dd"),
  }
}"""
SPOKEN = """() => {
  const found = []
  const visit = (root) => root.querySelectorAll("*").forEach((one) => {
    const live = one.getAttribute("aria-live") || ["status", "alert"].includes(one.getAttribute("role"))
    if (live && one.checkVisibility()) found.push(one.textContent)
    if (one.shadowRoot) visit(one.shadowRoot)
  })
  visit(document)
  return found.filter(Boolean)
}"""


def readable(learner: Learner) -> str:
    """All that can be read or heard, names of cells and pages included."""
    return str(learner.page.evaluate(READABLE))


def test_the_wall_shows_nothing_that_one_learner_answered(learner: Learner) -> None:
    to_the_wall(learner)
    on_the_wall = readable(learner)
    for secret in (*OWN.values(), WHY, "0.537", "1.0777", "You predicted", "First try", "of 10 right"):
        assert secret not in on_the_wall, secret
    expect(learner.find("#verdict-content table").first).to_be_visible()
    expect(learner.find(".lab-timelines .flag")).to_have_count(0)
    learner.find("#projector").click()
    again = readable(learner)
    for shown in (OWN["static.R02.ttft"], WHY, "You predicted"):
        assert shown in again, shown


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1920, 1080)])
def test_the_wall_can_be_read_from_the_back_row(learner: Learner, width: int, height: int) -> None:
    """Text of 20 px and more in what a class looks at, and nothing beside the screen."""
    learner.page.set_viewport_size({"width": width, "height": height})
    to_the_wall(learner)
    sizes = learner.page.evaluate(SIZES)
    least = 16 * width / 1280 * 1.1
    for part, found in sizes.items():
        assert found, part
        assert min(found) >= least, (part, min(found))
    assert learner.page.evaluate("document.scrollingElement.scrollWidth") <= width
    table = learner.find(".lab-timelines .scroll").first
    assert table.evaluate("(one) => one.scrollWidth <= one.clientWidth")
    assert findings(learner.page) == []


def test_the_browser_keeps_the_projector(learner: Learner) -> None:
    page = learner.open("?projector=1")
    expect(learner.find("#projector")).to_have_attribute("aria-pressed", "true")
    learner.open("?ex=tpot")
    expect(page.locator("html")).to_have_attribute("data-projector", "true")
    learner.find("[data-command=read]").click()
    learner.at("predict")
    expect(learner.find("#predict .only-projector")).to_be_visible()
    expect(learner.find("#predict button[type=submit]")).to_be_hidden()
    learner.find("#projector").click()
    expect(learner.find("#predict button[type=submit]")).to_be_visible()
    learner.reload()
    expect(page.locator("html")).to_have_attribute("data-projector", "false")


def test_the_wall_is_large_before_any_script_runs(learner: Learner) -> None:
    response = learner.page.goto(learner.server.page + "?projector=1")
    assert response is not None
    assert 'data-projector="true"' in response.text()
    learner.ready()


# ---- keys -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("language", "said"), [("en", "run to the end"), ("zh", "运行到底")])
def test_the_keys_are_listed_and_the_focus_comes_back(
    learners: Callable[..., Learner], lab: Serving, language: str, said: str
) -> None:
    learner = learners(lab)
    learner.predict(f"?lang={language}")
    help_dialog = learner.find("#help")
    assert "step" in learner.focused()["classes"]
    learner.press("?")
    expect(help_dialog).to_be_visible()
    expect(help_dialog).to_contain_text(said)
    expect(help_dialog.locator("kbd")).not_to_have_count(0)
    assert findings(learner.page) == []
    learner.press("Escape")
    expect(help_dialog).to_be_hidden()
    assert "step" in learner.focused()["classes"]
    learner.find("#run button.help").click()
    expect(help_dialog).to_be_visible()
    help_dialog.get_by_role("button").click()
    expect(help_dialog).to_be_hidden()
    assert "help" in learner.focused()["classes"]
    learner.find("#help-open").focus()
    learner.press("Enter")
    expect(help_dialog).to_be_visible()
    learner.press("?")
    expect(help_dialog).to_be_hidden()
    assert learner.focused()["id"] == "help-open"


def test_a_question_mark_may_be_typed(learner: Learner) -> None:
    learner.read()
    field = learner.find("#predict #f-why")
    field.focus()
    learner.press("?")
    expect(learner.find("#help")).to_be_hidden()
    expect(field).to_have_value("?")


def test_every_listed_key_does_what_is_said(learner: Learner) -> None:
    """In the player, in the timelines and in the pool."""
    learner.predict()
    learner.press("End")
    learner.at("observe")
    last = learner.tick()
    learner.find("#run button.step, #run button.back").first.focus()
    for key, tick in (("Home", -1), ("ArrowRight", 0), ("ArrowRight", 1), ("ArrowLeft", 0), ("End", last)):
        learner.press(key)
        learner.page.wait_for_function("tick => window.ticklab.tick === tick", arg=tick)
    learner.find(".lab-timelines [role=gridcell][tabindex='0']").first.focus()
    learner.press("Home", "ArrowRight", "ArrowDown", "Enter")
    learner.page.wait_for_function("window.ticklab.tick === 1")
    expect(learner.find(".lab-timelines .why").first).to_contain_text("R02 · tick 1: Waits")
    pool = learner.find(".lab-pages .pool").first
    pool.locator("[tabindex='0']").focus()
    learner.press("ArrowRight")
    why = learner.find(".lab-pages .why")
    expect(why).to_contain_text("Page 1: R01 has written 4 of 4 slots.")
    learner.press("End")
    expect(why).to_contain_text("Page 15: Free")


# ---- zoom, motion, no sound -----------------------------------------------------------------------


@pytest.mark.parametrize("language", ["en", "zh"])
def test_at_twice_the_size_nothing_is_lost(
    learners: Callable[..., Learner], lab: Serving, language: str
) -> None:
    """1280 px at 200 % are 640 CSS pixels."""
    learner = learners(lab, viewport={"width": 640, "height": 450}, device_scale_factor=2)
    for step in steps(learner, f"?lang={language}"):
        assert learner.page.evaluate("document.scrollingElement.scrollWidth") <= 640, step
        for name in ("#projector", "#help-open", "#theme"):
            box = learner.find(name).bounding_box()
            assert box is not None
            assert box["x"] + box["width"] <= 640, (step, name)


def test_with_less_motion_play_jumps(learners: Callable[..., Learner], lab: Serving) -> None:
    learner = learners(lab, reduced_motion="reduce")
    learner.predict()
    learner.page.evaluate("""() => {
      window.seenTicks = []
      window.addEventListener("ticklab:tick", (event) => window.seenTicks.push(event.detail.tick))
    }""")
    learner.find("#run button.play").click()
    learner.at("observe")
    seen = [tick for tick in learner.page.evaluate("window.seenTicks") if tick >= 0]
    assert set(seen) == {learner.tick()}


def test_a_tick_is_announced_in_a_few_words(learner: Learner) -> None:
    learner.predict()
    live = learner.find(".lab-player [role=status]")
    for _ in range(3):
        learner.step()
        expect(live).to_contain_text(f"tick {learner.tick()} ")
        assert len(live.inner_text()) <= 40
    spoken = learner.page.evaluate(SPOKEN)
    assert sum(len(text) for text in spoken) < 120, spoken


# ---- calculators ----------------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_calculators_for_everybody(
    learners: Callable[..., Learner], lab: Serving, language: str, scheme: str
) -> None:
    learner = learners(lab, color_scheme=scheme, viewport={"width": 390, "height": 844})
    for query in ("", "&calculator=kv&tokens=many&layers=0"):
        learner.page.goto(f"{lab.url}/lab/calculators?lang={language}{query}")
        assert learner.page.evaluate("document.scrollingElement.scrollWidth") <= 390
        assert findings(learner.page) == []
        for button in learner.page.locator("button, select, input:not([type=hidden])").all():
            box = button.bounding_box()
            assert box is not None
            assert box["height"] >= 44


def test_the_calculators_need_no_script(learners: Callable[..., Learner], lab: Serving) -> None:
    learner = learners(lab, java_script_enabled=False)
    page = learner.page
    page.goto(f"{lab.url}/lab/calculators?lang=en")
    page.get_by_label("format of the weights").select_option("int4")
    page.locator("#fit button").click()
    expect(page.locator("#fit .results")).to_contain_text("It fits.")
    page.locator("#kv-tokens").fill("many")
    page.locator("#kv button").click()
    field = page.locator("#kv-tokens")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_have_accessible_description("“many” is no number; write one such as 2048.")
    expect(page.locator("#kv .results")).to_have_count(0)


def test_an_exercise_leads_to_its_calculator_and_back(learner: Learner) -> None:
    learner.open("?ex=does-it-fit")
    learner.find(".beside a[href*=calculators]").click()
    expect(learner.page.locator("#fit")).to_be_in_viewport()
    learner.page.get_by_role("link", name="Back to the lab").click()
    learner.ready()
    learner.find("details.contents summary").click()
    learner.find(".contents").get_by_role("link", name="Calculators").click()
    expect(learner.find("h1")).to_have_text("Calculators")
