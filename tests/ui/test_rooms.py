"""Every room for everybody: axe finds nothing, in light and in dark, on the page and on the static pages."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from puzzles.course import course
from tests.serving import Serving
from tests.ui.learner import Learner
from tests.ui.test_page import findings
from tests.ui.walking import to_the_verdict

pytestmark = pytest.mark.ui
ROOMS = {room.name: room.exercises[-1] for room in course().rooms}
SCHEMES = ("light", "dark")


def check(learner: Learner, where: str) -> None:
    """Contrast included: axe looks at each scheme."""
    for scheme in SCHEMES:
        learner.page.emulate_media(color_scheme=scheme)
        assert findings(learner.page) == [], (where, scheme)


def fits(learner: Learner, width: int) -> None:
    """No part is wider than a page of that width."""
    learner.page.set_viewport_size({"width": width, "height": 844})
    learner.page.wait_for_function("width => innerWidth === width", arg=width)
    learner.page.wait_for_function("width => document.scrollingElement.scrollWidth <= width", arg=width)


@pytest.mark.parametrize("room", ROOMS)
def test_an_exercise_of_the_room(learners: Callable[..., Learner], lab: Serving, room: str) -> None:
    """When it is read and at its verdict, with the tables open; and on a phone."""
    language = "zh" if list(ROOMS).index(room) % 2 else "en"
    learner = learners(lab, reduced_motion="reduce")
    name = ROOMS[room]
    learner.open(f"?ex={name}&lang={language}")
    check(learner, "read")
    fits(learner, 390)
    learner.page.set_viewport_size({"width": 1280, "height": 900})
    to_the_verdict(learner, name, f"&lang={language}")
    learner.find(".lab-timelines summary").first.click()
    learner.find(".lab-pages summary").click()
    learner.page.wait_for_selector(".lab-pages details table")
    learner.page.wait_for_selector(".lab-timelines details table")
    check(learner, "verdict")
    fits(learner, 390)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_static_pages_of_the_rooms(learners: Callable[..., Learner], lab: Serving, language: str) -> None:
    learner = learners(lab, java_script_enabled=True)
    for room in course().rooms:
        learner.page.goto(f"{lab.url}/read/{language}/room-{room.name}.html")
        check(learner, room.name)
        fits(learner, 390)
