"""A learner without scripts at the transfer task: opens the page, sends its forms, keeps its cookies."""

from __future__ import annotations

import re
import urllib.parse
import urllib.request
from html import unescape
from typing import Any

from puzzles.design import load_task
from tests.classroom.running import Reply, Visitor

WORKED = load_task().worked
PLAN = {
    **WORKED,
    **load_task().limits,
    "expect_time": "1.5",
    "expect_inside": "6",
    "expect_goodput": "3",
    "expect_rank": "1",
    "expect_pays": "long",
    "variables": ["step_time", "burstiness", "output_lengths"],
    "confidence": "3",
    "why": "short ones first, & nobody <waits>",
}
STEP = re.compile(r'<li aria-current="step">.*?</span> ([^<]+)</li>')


class Guest(Visitor):
    """``page`` is the last page it was shown."""

    def __init__(self, url: str, path: str = "/lab/design") -> None:
        super().__init__(url)
        self.path = path
        self.page = self.open()

    def open(self, query: str = "") -> Reply:
        self.page = self.get(self.path + query)
        return self.page

    def press(self, do: str, *, origin: str | None = "", **fields: Any) -> Reply:
        """Send a form of the page, from the page itself unless ``origin`` says otherwise (None: unsaid)."""
        given = {"attempt": self.attempt, "do": do} | fields
        data = urllib.parse.urlencode(given, doseq=True).encode()
        request = urllib.request.Request(self.root + self.path, data=data, method="POST")
        if origin is not None:
            request.add_header("Origin", origin or self.root)
        self.page = self.send(request)
        return self.page

    @property
    def attempt(self) -> str:
        found = re.search(r'name="attempt" value="(\d+)"', self.page.text)
        return found[1] if found else "1"

    @property
    def step(self) -> str:
        found = STEP.search(self.page.text)
        assert found, self.page.text[:2000]
        return found[1]

    @property
    def text(self) -> str:
        """The page as one reads it."""
        return unescape(re.sub(r"<[^>]+>", " ", self.page.text))

    def all_the_way(self, **changes: Any) -> None:
        """From the form to the verdict."""
        self.press("lock", **(PLAN | changes))
        self.press("run")
        self.press("observe", observed="6")
