"""C07: every figure follows the page's theme, whenever it was made and whenever the theme is switched.

What is measured is what is painted: the pixels of Bokeh's canvas, and the colours of the hover box.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Locator

from tests.ui.learner import Learner

pytestmark = pytest.mark.ui

ENOUGH = 4.5  # WCAG: contrast of text
TOLD_APART = 3.0  # WCAG: contrast of what is drawn
SERIES = {"int8": (0x2A, 0x86, 0xC8), "int4": (0xD5, 0x5E, 0x00)}
PAPER = "getComputedStyle(document.body).getPropertyValue('--paper')"
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
