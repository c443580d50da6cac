"""C07: every figure follows the page's theme, whenever it was made and whenever the theme is switched.

What is measured is what is painted: the pixels of Bokeh's canvas, and the colours of the hover box.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Locator, expect

from tests.serving import Serving
from tests.ui.learner import PATIENCE, Learner

pytestmark = pytest.mark.ui

ENOUGH = 4.5  # WCAG: contrast of text
TOLD_APART = 3.0  # WCAG: contrast of what is drawn
SERIES = {"int8": (0x2A, 0x86, 0xC8), "int4": (0xD5, 0x5E, 0x00)}
Colour = tuple[int, ...]


def luminance(colour: Any) -> float:
    parts = np.asarray(colour[:3], dtype=float) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ (0.2126, 0.7152, 0.0722))


def contrast(one: Any, other: Any) -> float:
    """As WCAG has it: 1 for the same, 21 for black on white."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def pixels(figure: Locator) -> Any:
    """What is painted: rows × columns × (red, green, blue)."""
    return np.asarray(Image.open(io.BytesIO(figure.screenshot())).convert("RGB"))


def commonest(picture: Any) -> Colour:
    colours, counts = np.unique(picture.reshape(-1, 3), axis=0, return_counts=True)
    return tuple(int(part) for part in colours[counts.argmax()])


def strongest(picture: Any, ground: Colour) -> float:
    """The contrast of whatever stands out most: the middle of a stroke of text."""
    return max(contrast(colour, ground) for colour in np.unique(picture.reshape(-1, 3), axis=0))


def computed(learner: Learner, name: str) -> Colour:
    """A colour of the page, as red, green, blue."""
    found = learner.page.evaluate(
        """(name) => {
          const probe = document.createElement("i")
          probe.style.color = `var(${name})`
          document.body.append(probe)
          const colour = getComputedStyle(probe).color
          probe.remove()
          return colour.match(/[\\d.]+/g).slice(0, 3).map(Number)
        }""",
        name,
    )
    return tuple(int(part) for part in found)


def switch(learner: Learner, theme: str) -> None:
    learner.find("#theme").select_option(theme)
    learner.page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


STILL = """new Promise((done) => {
  let place = null, frames = 0
  const look = () => {
    frames = place === scrollY ? frames + 1 : 0
    place = scrollY
    frames > 9 ? done() : requestAnimationFrame(look)
  }
  look()
})"""  # the page glides to where it is scrolled
PLOTS = "[...Bokeh.index.query((one) => typeof one.request_repaint === 'function')]"
FIGURES = f"""() => {PLOTS}.map((view) => {{
  const place = view.el.getBoundingClientRect()
  const {{ left, top, width, height }} = view.frame.bbox
  const marks = [...view.renderer_views.values()].find((one) => one.glyph?.model.marker)
  return {{
    place: [place.x + scrollX, place.y + scrollY, place.width, place.height],
    frame: [left, top, width, height],
    mark: [marks.glyph.sx[0], marks.glyph.sy[0]],
  }}
}})"""


def figures(learner: Learner) -> list[dict[str, Any]]:
    """Where each figure of Bokeh stands on the page, and its frame in it; in the order of the page."""
    found = list({tuple(one["place"]): one for one in learner.page.evaluate(FIGURES)}.values())
    return sorted(found, key=lambda one: (one["place"][1], one["place"][0]))


def painted(learner: Learner, paper: Colour) -> tuple[list[dict[str, Any]], list[Any]]:
    """The figures and their pictures once they stand on ``paper``; as they are when they never do."""
    for _ in range(PATIENCE // 100):
        page = np.asarray(Image.open(io.BytesIO(learner.page.screenshot(full_page=True))).convert("RGB"))
        found, pictures = figures(learner), []
        for figure in found:
            x, y, width, height = (round(part) for part in figure["place"])
            pictures.append(page[y : y + height, x : x + width])
        if all(commonest(picture) == paper for picture in pictures):
            break
        learner.page.wait_for_timeout(100)
    return found, pictures


def check_figures(learner: Learner, theme: str) -> None:
    """Ground, grid, text of the axes, series, legend and hover of every figure, as they are painted."""
    paper, line = computed(learner, "--paper"), computed(learner, "--line")
    assert (luminance(paper) < 0.2) == (theme == "dark")
    found, pictures = painted(learner, paper)
    assert len(found) == 2
    for figure, picture in zip(found, pictures, strict=True):
        left, top, wide, high = (round(part) for part in figure["frame"])
        inside = picture[top : top + high, left : left + wide]
        assert commonest(picture) == commonest(inside) == paper
        assert np.abs(inside.astype(int) - line).sum(axis=2).min() <= 6, "no grid in its colour"
        assert strongest(picture[:, : left - 8], paper) >= ENOUGH
        assert strongest(picture[top + high + 8 :], paper) >= ENOUGH
        for colour in SERIES.values():
            assert np.abs(inside.astype(int) - colour).sum(axis=2).min() <= 12, "a series is not painted"
            assert contrast(colour, paper) >= TOLD_APART
    legend = pixels(learner.find(".lab-quantization .legend"))
    assert commonest(legend) == paper
    assert strongest(legend, paper) >= ENOUGH
    check_hover(learner, paper, theme)


def check_hover(learner: Learner, paper: Colour, theme: str) -> None:
    """The box that comes when the pointer is on a mark."""
    learner.find(".lab-quantization .holder").first.scroll_into_view_if_needed()
    learner.page.evaluate(STILL)
    figure = figures(learner)[0]
    scrolled = learner.page.evaluate("[scrollX, scrollY]")
    learner.page.mouse.move(0, 0)
    learner.page.mouse.move(
        figure["place"][0] - scrolled[0] + figure["mark"][0],
        figure["place"][1] - scrolled[1] + figure["mark"][1],
        steps=5,
    )
    box = learner.find(".bk-Tooltip:visible").first
    expect(box).to_be_visible()
    picture = pixels(box)
    ground = commonest(picture)
    assert (luminance(ground) < 0.2) == (theme == "dark"), ground
    assert strongest(picture, ground) >= ENOUGH
    learner.page.mouse.move(0, 0)


def make_figures(learner: Learner) -> None:
    learner.find(".lab-quantization button").click()
    expect(learner.find(".lab-quantization .holder").first).to_be_visible(timeout=180_000)
    learner.page.wait_for_function(f"{PLOTS}.length >= 2", timeout=180_000)


def test_c07_figures_follow_the_theme_whenever_it_is_switched(learner: Learner) -> None:
    """Before the first figure, after it, and back; while a run plays."""
    learner.open()
    switch(learner, "dark")
    learner.predict()
    learner.run()
    make_figures(learner)
    check_figures(learner, "dark")
    switch(learner, "light")
    check_figures(learner, "light")
    learner.find("#run .speed select").select_option(index=0)  # the slowest: it plays on while all is checked
    learner.find("#run button.play").click()
    switch(learner, "dark")
    assert learner.page.evaluate("window.ticklab.tick") < 18  # it still plays
    learner.find("#run button.play").click()  # what moves cannot be measured
    check_figures(learner, "dark")


def test_c07_a_figure_made_after_the_switch(learners: Callable[..., Learner], lab: Serving) -> None:
    """The system's own theme first; then another is chosen, then the figures are made."""
    learner = learners(lab, color_scheme="dark")
    learner.predict()
    learner.run()
    switch(learner, "light")
    make_figures(learner)
    check_figures(learner, "light")
    switch(learner, "auto")
    check_figures(learner, "dark")
    learner.page.emulate_media(color_scheme="light")
    switch(learner, "auto")
    check_figures(learner, "light")
