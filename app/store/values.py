"""The values that go into the store and come out of it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

STEPS = ("read", "predict", "run", "observe", "verdict", "again")


class Place(msgspec.Struct, frozen=True):
    """Whose work, at what: every row belongs to one place. ``attempt`` counts from 1."""

    learner: str
    exercise: str
    attempt: int


class Attempt(msgspec.Struct, frozen=True):
    """A try at an exercise; ``seed`` chose its variant (None: the exercise as it stands)."""

    place: Place
    seed: int | None
    started: datetime


class Draft(msgspec.Struct, frozen=True):
    """What has been typed and not locked: the texts as typed, by field; for which ``vote``."""

    answers: dict[str, str] = {}
    confidence: int | None = None
    why: str = ""
    vote: int = 1


class Prediction(msgspec.Struct, frozen=True):
    """What was locked, for good. ``answers`` by field as they were parsed, absent when left empty."""

    place: Place
    vote: int
    answers: dict[str, Any]
    confidence: int | None
    why: str
    locked: datetime


class Visit(msgspec.Struct, frozen=True):
    """One attempt of a learner as the list of exercises needs it: ``answers`` None before the lock."""

    exercise: str
    attempt: int
    seed: int | None
    moment: datetime
    answers: dict[str, Any] | None
    revealed: bool


class Progress(msgspec.Struct, frozen=True):
    """How far a learner is. ``known`` counts the ticks that were run for them, ``tick`` is their cursor
    (None before the first tick), ``observed`` what they read off the run."""

    step: str = "read"
    tick: int | None = None
    known: int = 0
    observed: dict[str, Any] | None = None
    revealed: bool = False

    def joined(self, other: Progress) -> Progress:
        """The farther of both, with our cursor: two tabs never take a learner back."""
        return Progress(
            step=max(self.step, other.step, key=STEPS.index),
            tick=self.tick,
            known=max(self.known, other.known),
            observed=other.observed or self.observed,
            revealed=self.revealed or other.revealed,
        )
