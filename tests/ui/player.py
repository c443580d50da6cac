"""What one does on the page of free play."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from tests.ui.learner import Learner

RUNS = "window.ticklab.runs.map((run) => [run.timeline.title, run.strip.frames.length])"
OPEN = "(field) => { const group = field.closest('details'); if (group) group.open = true }"


class Player:
    """A learner on that page."""

    def __init__(self, learner: Learner, query: str = "?play=") -> None:
        self.learner = learner
        self.page: Page = learner.open(query)
        self.find = learner.find

    def set(self, **fields: str) -> None:
        """Type into fields by id; a select takes its value."""
        for name, text in fields.items():
            field = self.find(f"#{name}, #set-{name}").first
            field.evaluate(OPEN)
            if field.evaluate("(field) => field.tagName") == "SELECT":
                field.select_option(text)
            else:
                field.fill(text)

    def press_run(self) -> None:
        self.find("#play-run").click()

    def run(self, state: str = "done") -> None:
        """Run, and wait for its end; the state before must not count."""
        self.page.evaluate("document.documentElement.dataset.play = 'asked'")
        self.press_run()
        self.wait(state)

    def wait(self, state: str) -> None:
        expect(self.find("html")).to_have_attribute("data-play", state, timeout=120_000)

    def runs(self) -> list[list[Any]]:
        return list(self.page.evaluate(RUNS))

    def compare(self) -> None:
        self.find("input[name=mode][value=compare]").check()

    def download(self, selector: str, to: Path) -> tuple[str, bytes]:
        with self.page.expect_download() as made:
            self.find(selector).click()
        file = to / "file"
        made.value.save_as(file)
        return made.value.suggested_filename, file.read_bytes()
