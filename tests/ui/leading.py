"""A teacher who leads a class, and the learners of it, each in a browser."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page, expect

from app.classroom.keys import keys_in
from app.words import app_words
from tests.app.secrets import betrayed
from tests.classroom.running import ClassServing
from tests.ui.learner import REQUIRED, Learner

SOON = 120_000  # ms: a decision is looked for once a second, on a machine that may be busy
FIELD = "static.R02.ttft"


LOCK_STEP = {
    "en": ("Everyone to tick 0", "One tick on", "Release"),
    "zh": ("全班到 tick 0", "下一个 tick", "放开"),
}


class Led(Learner):
    """A learner of a class."""

    language = "en"
    own: frozenset[str] = frozenset({*REQUIRED.values(), "1.2"})  # 1.20, as the server writes it

    def join(self, nickname: str = "") -> None:
        """By the code, then into the lab."""
        code = keys_in(self.server.folder / "data").join
        self.page.goto(f"{self.server.url}/?code={code}&lang={self.language}")
        self.page.goto(f"{self.server.url}/?lang={self.language}")
        self.page.fill("#nickname", nickname)
        self.page.click("form button")
        self.ready()

    def hears(self, key: str, **values: Any) -> None:
        """The page says it, in the learner's language, where a screen reader hears it."""
        said = app_words(self.language)(key, **values)
        expect(self.find("#status[role=status][aria-live=polite]")).to_have_text(said, timeout=SOON)

    def begin(self) -> None:
        if self.find("[data-command=read]").is_visible():
            self.find("[data-command=read]").click()
        self.at("predict")

    def vote(self, **changes: str) -> None:
        """Fill in and lock; the run stays closed."""
        self.fill(**changes)
        button = self.find("#predict button[type=submit]")
        expect(button).to_be_enabled(timeout=SOON)
        button.click()
        expect(self.find("#predict form.locked")).to_be_visible(timeout=SOON)

    def join_and_vote(self, **changes: str) -> None:
        """From the way in to the lock."""
        self.join()
        self.begin()
        self.vote(**changes)

    def shown(self, field: str) -> str:
        return self.find(f"#predict [name='{field}']").input_value()

    def secrets(self) -> list[str]:
        """What anything this browser ever received gives away, but for the numbers it was typed itself."""
        found = betrayed("\n".join(self.received)) + betrayed(self.page.content())
        return [one for one in found if one not in self.own]


class TeachersPage:
    """The teacher's browser."""

    def __init__(self, page: Page, server: ClassServing, language: str) -> None:
        self.page, self.server, self.language = page, server, language
        key = keys_in(server.folder / "data").teacher
        page.goto(f"{server.teacher}/teach?key={key}")
        page.goto(self.address())

    def address(self, show: int = 0) -> str:
        return f"{self.server.teacher}/teach?exercise=main&lang={self.language}&show={show}"

    def lead(self, phase: str) -> None:
        """Choose a phase; yes when it is asked about."""
        self.page.click(f"button[name=phase][value={phase}]")
        sure = self.page.locator(".asked button")
        chosen = self.page.locator(f"button[value={phase}][aria-current=step]")
        expect(sure.or_(chosen)).to_be_visible()
        if sure.is_visible():
            sure.click()
        expect(self.page.locator(f"button[value={phase}][aria-current=step]")).to_be_visible()

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()

    def board(self) -> str:
        """The votes as the teacher sees them now."""
        self.page.goto(self.address(show=1))
        return self.page.locator("#board").inner_text()
