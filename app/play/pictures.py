"""The components that show runs, told by what came of them. Without figures they show nothing."""

from __future__ import annotations

from typing import Any

from app.components import Backlog, Log, PageMaps, Player, Runs, Streams, Strip, Timelines
from app.play.spec import Figures

NOBODY = ["-"]  # a run that there is not: with no names at all a component shows every run
EMPTY = '{"since":0,"runs":[]}'


class Pictures:
    """Every component that shows runs."""

    def __init__(self, language: str) -> None:
        self.player = Player(language=language)
        self.runs = Runs(language=language, data=EMPTY)  # sent whole, as JSON that was made elsewhere
        self.timelines = Timelines(language=language, flags=False)
        self.slow = Timelines(language=language, names=NOBODY, legend=False)
        self.pages = PageMaps(language=language)
        self.streams = Streams(language=language, names=NOBODY)
        self.others = {
            "strip": Strip(language=language),
            "backlog": Backlog(language=language),
            "log": Log(language=language),
        }

    @property
    def roots(self) -> dict[str, Any]:
        """The components by the name the template gives their place."""
        own = ("player", "runs", "timelines", "slow", "pages", "streams")
        return {**{name: getattr(self, name) for name in own}, **self.others}

    def show(self, figures: Figures | None) -> None:
        """Show ``figures`` and nothing of what was shown before, at their last tick."""
        page = figures.page if figures else {}
        titles = page.get("titles", {})
        self.timelines.names = page.get("names") or NOBODY
        self.slow.names = page.get("other") or NOBODY
        self.pages.names = page.get("pools") or NOBODY
        self.streams.param.update(
            names=page.get("spoken") or NOBODY, prompts=page.get("prompts", {}), titles=titles
        )
        for component in self.others.values():
            component.titles = titles
        known = figures.known if figures else 0
        self.player.param.update(
            known=known,
            last=known - 1 if known else None,
            enabled=bool(known),
            tick_seconds=figures.tick_seconds if figures else 0.1,
        )
        self.runs.data = figures.runs if figures else EMPTY
        self.player.tick = known - 1
