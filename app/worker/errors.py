"""What can go wrong with a run. ``code`` names the message a learner sees (``run.error.<code>``)."""

from __future__ import annotations

from collections.abc import Mapping


class WorkerError(RuntimeError):
    """A run could not be had; there are no numbers of it."""

    code = "failed"

    def told(self, language: str) -> str:
        """What the process said, in ``language`` where it speaks it."""
        return str(self)


class WorkerLost(WorkerError):
    """The process ended while it was asked; the next call starts a new one."""

    code = "lost"


class WorkerTimeout(WorkerError):
    """The command took longer than a command may; the process was ended."""

    code = "slow"


class WorkerBusy(WorkerError):
    """Too many commands wait already; nothing was asked."""

    code = "busy"


class WorkerRefused(WorkerError):
    """The engine says no: malformed input, or a run that can never go on. ``texts`` says what, by
    language."""

    code = "refused"

    def __init__(self, texts: Mapping[str, str]) -> None:
        super().__init__(texts["en"])
        self.texts = texts

    def told(self, language: str) -> str:
        return self.texts[language]
