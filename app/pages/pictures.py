"""The run as the page shows it: the player, the recorded runs, and the pictures of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from panel.io import hold

from app.components import Backlog, Log, PageMaps, Player, Quantization, Runs, Streams, Strip, Timelines
from app.components.tabled import Tabled
from app.pages.album import album
from app.pages.texts import Texts
from app.state import Lesson
from engine import History
from puzzles.views.model import RunView


class Pictures:
    """Every component that shows the run. They hold nothing of it until ``show`` is called."""

    def __init__(self, lesson: Lesson, texts: Texts) -> None:
        self.lesson = lesson
        self.texts = texts
        language, main = lesson.language, texts.side_by_side
        self.player = Player(
            language=language,
            enabled=lesson.running,
            tick=lesson.tick if lesson.running else -1,
            tick_seconds=texts.tick_seconds,
        )
        self.runs = Runs(language=language)
        self.views: dict[str, RunView] = {}
        self.timelines = Timelines(language=language, names=main, predictions=texts.predictions())
        self.quantization = Quantization(language=language, enabled=lesson.running)
        self.roots: dict[str, Any] = {
            "player": self.player,
            "runs": self.runs,
            "strip": Strip(language=language, titles=texts.titles, names=main),
            "timelines": self.timelines,
            "pages": PageMaps(language=language, names=texts.pools),
            "backlog": Backlog(language=language, titles=texts.titles, names=main),
            "streams": Streams(language=language, titles=texts.titles, names=texts.formats),
            "log": Log(language=language, titles=texts.titles, names=main),
        }
        if texts.other_clocks:
            self.roots["slow"] = Timelines(language=language, names=texts.other_clocks, legend=False)
        if texts.quantized:
            self.roots["quantization"] = self.quantization
        for picture in self.roots.values():
            if isinstance(picture, Tabled):
                picture.param.watch(self._answer, "asked")

    def _answer(self, event: Any) -> None:
        """Somebody reads a picture as a table: only of what was shown."""
        if self.views:
            event.obj.answer(self.views)

    def open(self) -> None:
        """The prediction is locked: the run may begin, and the prediction is marked in it."""
        self.timelines.predictions = self.texts.predictions()
        self.player.enabled = True
        self.quantization.enabled = True

    def compare(self, comparison: Mapping[str, Any], histories: Mapping[str, History]) -> None:
        """Show what fewer bits cost, beside the milliseconds that the runs were measured to take."""
        self.quantization.show(comparison, self.milliseconds(histories))

    def milliseconds(self, histories: Mapping[str, History]) -> dict[str, list[float | None]]:
        """The measured milliseconds of each tick so far (None: no work), by weight format."""
        return {
            self.lesson.exercise.run(name).weights: [
                record.work.ms if record.work else None for record in histories[name].records
            ]
            for name in self.texts.formats
            if name in histories
        }

    def show(self, histories: Mapping[str, History]) -> None:
        """Send what the browser lacks, then let the player know of it."""
        if not histories:
            return
        specs, language = self.lesson.specs, self.lesson.language
        self.views = {
            name: album.view(specs[name].key, run, name, language) for name, run in histories.items()
        }
        with hold():  # in one message
            self.runs.show(list(self.views.values()))
            # The tick first: the player then finds it has nothing to report back.
            self.player.param.update(tick=self.lesson.tick, known=self.lesson.known, last=self.lesson.last)
