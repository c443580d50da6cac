"""An exercise as data: what a file in ``exercises/`` holds, typed."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import msgspec

from engine import InputError, Request, Service
from engine.service import SETTINGS
from engine.words import Catalogue
from puzzles.words import puzzle_words

Span = tuple[int, int]  # least and most, both included


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A step of the exercise with a question of its own; its texts are ``part.<name>.title`` and ``.ask``."""

    name: str


class Run(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One configuration. ``service`` holds what differs from the exercise's own settings."""

    name: str
    part: str
    service: dict[str, Any] = {}
    weights: str = "fp32"


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A group of fields: ``metrics`` of each of ``requests`` in each of ``runs`` (see measures.py).

    ``key`` makes the name of each field from {run}, {request} and {metric}.
    """

    metrics: tuple[str, ...]
    runs: tuple[str, ...]
    requests: tuple[str, ...] = ()
    key: str = "{run}.{request}.{metric}"


class Ranges(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one request of a variant is drawn from; ``arrival`` in hundredths of a second."""

    id: str
    arrival: Span
    prompt: Span
    output: Span


class Seen(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """That the reason ``reason`` occurs in ``run`` (``never``: that it does not)."""

    run: str
    reason: str
    never: bool = False


class Variants(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How another trace of the same idea is drawn.

    ``differ`` lists pairs of fields whose answers must differ by at least twice the tolerance,
    ``caught`` beliefs that must give a wrong value somewhere, ``texts`` the lines prompts are cut from,
    ``printed`` the seeds that have a page of their own.
    """

    requests: tuple[Ranges, ...]
    texts: tuple[str, ...]
    differ: tuple[tuple[str, str], ...] = ()
    seen: tuple[Seen, ...] = ()
    caught: tuple[str, ...] = ()
    printed: tuple[int, ...] = ()


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """SLO limits in seconds; None for no limit."""

    ttft: Decimal | None = None
    tpot: Decimal | None = None


class Exercise(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One exercise. ``seed`` is 0 for the trace of the file, else that of the variant.

    ``trace`` names a trace the engine owns; else ``requests`` lists one. ``required`` are the fields that
    must be answered, ``observe`` the field a learner reads off the timeline, ``layouts`` the runs whose KV
    is set side by side, ``beliefs`` the known wrong pictures, of which the first that fits is named.
    ``texts`` holds the exercise's own words, by language.
    """

    name: str
    parts: tuple[Part, ...]
    runs: tuple[Run, ...]
    questions: tuple[Question, ...]
    texts: dict[str, dict[str, str]]
    variants: Variants
    trace: str | None = None
    requests: tuple[Request, ...] = ()
    service: dict[str, Any] = {}
    required: tuple[str, ...] = ()
    observe: str | None = None
    layouts: tuple[str, ...] = ()
    beliefs: tuple[str, ...] = ()
    limits: Limits = Limits()
    seed: int = 0

    def variant(self, seed: int | None) -> Exercise:
        """The same idea on another trace; 0 or None is this file's own. Equal seeds give equal traces.

        Raises InputError for a seed that is no whole number of at least 0.
        """
        from puzzles.variants import variant

        return variant(self, seed)

    def run(self, name: str) -> Run:
        """The run of that name. Raises KeyError."""
        return {run.name: run for run in self.runs}[name]

    def service_of(self, name: str) -> Service:
        """The settings of the run ``name``. Raises InputError for a setting that does not exist."""
        settings = self.service | self.run(name).service
        unknown = sorted(set(settings) - set(SETTINGS))
        if unknown:
            raise InputError(f"run {name}: {unknown[0]!r} is not one of {', '.join(SETTINGS)}")
        return Service(**settings)

    def request(self, key: str) -> Request:
        """The request of that id. Raises KeyError."""
        return {request.id: request for request in self.requests}[key]

    def words(self, language: str) -> Catalogue:
        """The texts of this room and the exercise's own, which win. Raises KeyError for another language."""
        return Catalogue(language, puzzle_words(language).texts | self.texts[language])


class RunSpec(msgspec.Struct, frozen=True):
    """One configuration to run: ``weights`` is fp32, int8 or int4."""

    name: str
    service: Service
    requests: tuple[Request, ...]
    part: str
    weights: str = "fp32"


def runs(exercise: Exercise) -> tuple[RunSpec, ...]:
    """Every configuration of the exercise, in the order of its file."""
    return tuple(
        RunSpec(run.name, exercise.service_of(run.name), exercise.requests, run.part, run.weights)
        for run in exercise.runs
    )
