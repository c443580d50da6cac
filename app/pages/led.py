"""What a teacher's directions do to one learner's page: what is open, where it looks, what it says."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from panel.io import hold

from app.state import Lesson, NotAllowed
from app.state.directions import Direction
from app.worker import WorkerError
from puzzles import load

if TYPE_CHECKING:
    from app.pages.learn import LearnPage

log = logging.getLogger(__name__)


class Led:
    """Follows the teacher on one page of a class. Without a class it does nothing and says nothing."""

    def __init__(self, page: LearnPage) -> None:
        self.page = page
        self.words = page.texts.words
        self.heard = page.lesson.direction

    @property
    def lesson(self) -> Lesson:
        return self.page.lesson

    # ---- hearing ---------------------------------------------------------------------------

    async def hear(self, direction: Direction) -> None:
        """The teacher decided something for this exercise; the store has the last word on what."""
        before, self.heard = self.heard, direction
        if _seen(direction) == _seen(before):
            return  # whether the votes are on the projector changes nothing here
        await self.lesson.follow()
        with hold():  # in one message
            self.arrange()
            self.say()
        await self.show()

    async def show(self) -> None:
        """Bring what the class looks at now: its tick, or the verdict."""
        try:
            if self.lesson.running:
                await self._show()
        except NotAllowed as error:  # decided anew meanwhile: that will be heard too
            log.info("not shown: %s", error.code)
        except WorkerError as error:
            self.page.fail(error)

    async def _show(self) -> None:
        page, lesson = self.page, self.lesson
        if lesson.attempt == 1 and lesson.direction.phase == "reveal":
            histories = await lesson.reveal()
            with hold():
                page.pictures.show(histories)
                page.show_verdict(histories)
                self.arrange()
        elif lesson.limit is not None:
            histories = await lesson.run_along()
            with hold():
                page.pictures.show(histories)
                page.player.tick = lesson.tick
                self.arrange()
        else:
            self.arrange()

    # ---- what is open ------------------------------------------------------------------------

    def arrange(self) -> None:
        """Open and close the parts of the page as the rules say."""
        if self.lesson.class_id is None:
            return
        self._arrange_form()
        self._arrange_run()
        self.page.desk.state = self.page.state()

    def _arrange_form(self) -> None:
        lesson, form = self.lesson, self.page.form
        if form.locked == lesson.locked and form.storage_id == self.page.storage_id():
            form.param.update(held=self.held(), final=self.final())
            return
        texts = self.page.texts.locked_draft() if lesson.locked else dict(lesson.draft)
        form.param.update(
            draft=texts,
            problems={},
            held=self.held(),
            final=self.final(),
            storage_id=self.page.storage_id(),
            locked=lesson.locked,
        )

    def _arrange_run(self) -> None:
        lesson, page = self.lesson, self.page
        texts = page.player.texts
        page.player.param.update(
            enabled=lesson.running,
            limit=None if lesson.limit is None else lesson.limit - 1,
            texts=texts | {"closed": self.closed() or texts["closed"]},
        )
        page.pictures.quantization.enabled = lesson.running and lesson.limit is None
        if lesson.running:
            page.pictures.timelines.predictions = page.texts.predictions()

    # ---- words -------------------------------------------------------------------------------

    def say(self) -> None:
        """Say where the class is: with another exercise, or where with this one."""
        name = self.heard.elsewhere
        if not name:
            self.page.say(self.sentence(), "led")
            return
        title = load(name).words(self.lesson.language)("title")
        link = {"href": f"?ex={name}", "text": self.words("led.elsewhere.go")}
        self.page.say(self.words("led.elsewhere", title=title), "led", link)

    def sentence(self) -> str:
        """What the teacher has just decided, for this learner."""
        lesson, phase = self.lesson, self.lesson.direction.phase
        if lesson.attempt > 1 and phase != "ended":
            return self.words("led.practice")
        if phase in ("run", "reveal") and lesson.prediction is None:
            return self.words("led.late")
        if phase in ("vote1", "vote2") and lesson.locked:
            return self.words("said.kept")
        if phase == "run" and lesson.direction.tick is not None:
            return self.words("led.tick", tick=lesson.direction.tick)
        if phase == "run" and lesson.observed is not None:
            return self.words("said.observed")
        if phase == "vote2" and lesson.prediction is None:
            return self.words("led.vote2.late")
        return self.words(f"led.{phase}")

    def held(self) -> str:
        """Why nothing can be locked now, empty when it can."""
        open_now = self.lesson.locked or self.lesson.rules.vote is not None
        return "" if open_now else self.words(f"led.held.{self.lesson.direction.phase}")

    def final(self) -> str:
        """What a lock means while the run is closed; empty where a lock opens it."""
        return "" if self.lesson.rules.run else self.words("led.final")

    def closed(self) -> str:
        """Why the run is closed to somebody who has locked; empty when it is not."""
        lesson = self.lesson
        return self.words("led.wait") if lesson.prediction is not None and not lesson.rules.run else ""


def _seen(direction: Direction) -> tuple[str, int | None, str]:
    """What of a direction changes a learner's page."""
    return direction.phase, direction.tick, direction.elsewhere
