"""An exercise as data: what a file in ``exercises/`` holds, typed."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from engine import InputError, Request, Service
from engine.service import SETTINGS
from engine.words import Catalogue
from puzzles.edits import Edits, edited
from puzzles.words import filled_texts, puzzle_words

if TYPE_CHECKING:
    from puzzles.asking import Field

Span = tuple[int, int]  # least and most, both included
PART = "question"  # the part of an exercise that has only one


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A step of the exercise with a question of its own; its texts are ``part.<name>.title`` and ``.ask``."""

    name: str


class Run(Edits, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One configuration. ``service`` holds what differs from the exercise's own settings.

    The edits (see edits.py) change the trace for this run only; ``horizon`` (s) ends its window early.
    """

    name: str
    part: str = PART
    service: dict[str, Any] = msgspec.field(default_factory=dict)
    weights: str = "fp32"
    horizon: Decimal | None = None


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A group of fields: ``metrics`` of each of ``requests`` in each of ``runs`` (see measures.py).

    ``key`` makes the name of each field from {run}, {request} and {metric}; None: the parts that there are.
    """

    metrics: tuple[str, ...]
    runs: tuple[str, ...]
    requests: tuple[str, ...] = ()
    key: str | None = None
    tolerance: Decimal | None = None


class Ask(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question of its own, whose answer is an expression over the runs (see expressions.py).

    Its text is ``ask.<key>``. A comparison asks whether it holds, ``change`` whether something rises,
    ``lowest`` and ``highest`` which one. ``rule`` and ``request`` say which tick rows are shown.
    """

    key: str
    value: str
    part: str = PART
    unit: str = ""
    tolerance: Decimal | None = None
    rule: str = "waits"
    request: str | None = None
    optional: bool = False


class Wrong(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A wrong picture of this exercise: who has it answers ``value`` (an expression) in ``fields``.

    Its texts are ``belief.<name>.title`` and ``belief.<name>``; ``item`` is its place in the lab's list.
    """

    name: str
    fields: tuple[str, ...]
    value: str
    item: int | None = None
    rule: str = "waits"


class Ranges(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one request of a variant is drawn from; ``arrival`` in hundredths of a second."""

    id: str
    arrival: Span
    prompt: Span
    output: Span


class Drawn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A trace of ``count`` requests with gaps in hundredths of a second; ``seed`` draws the file's own."""

    count: int
    gap: Span
    prompt: Span
    output: Span
    seed: int = 0


class Seen(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """That the reason ``reason`` occurs in ``run`` (``never``: that it does not)."""

    run: str
    reason: str
    never: bool = False


class Variants(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How another trace of the same idea is drawn.

    ``differ`` lists pairs of fields whose answers must differ by at least twice the tolerance,
    ``keep`` comparisons that must hold, ``caught`` beliefs that must give a wrong value somewhere (None:
    all of the file's own), ``texts`` the lines prompts are cut from, ``given`` what each given is drawn
    from, ``printed`` the seeds that have a page of their own. No ``requests``: those of the course.
    """

    requests: tuple[Ranges, ...] = ()
    texts: tuple[str, ...] = ()
    given: dict[str, tuple[str, ...]] = {}
    differ: tuple[tuple[str, str], ...] = ()
    keep: tuple[str, ...] = ()
    seen: tuple[Seen, ...] = ()
    caught: tuple[str, ...] | None = None
    printed: tuple[int, ...] = ()


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """SLO limits in seconds; None for no limit."""

    ttft: Decimal | None = None
    tpot: Decimal | None = None


class Exercise(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """One exercise. ``seed`` is 0 for the trace of the file, else that of the variant.

    ``trace`` names a trace the engine owns; else ``requests`` lists one, or ``drawn`` says how to make one.
    ``required`` are the fields of ``questions`` that must be answered, ``observe`` the field a learner reads
    off the timeline, ``layouts`` the runs whose KV is set side by side, ``beliefs`` the known wrong
    pictures, of which the first that fits is named, ``wrong`` those of this file. ``given`` fills the blanks
    of expressions and texts. ``texts`` holds the exercise's own words, by language.
    """

    name: str
    runs: tuple[Run, ...]
    texts: dict[str, dict[str, str]]
    parts: tuple[Part, ...] = (Part(PART),)
    questions: tuple[Question, ...] = ()
    asks: tuple[Ask, ...] = ()
    variants: Variants = Variants()
    trace: str | None = None
    requests: tuple[Request, ...] = ()
    drawn: Drawn | None = None
    service: dict[str, Any] = {}
    given: dict[str, str] = {}
    required: tuple[str, ...] = ()
    observe: str | None = None
    layouts: tuple[str, ...] = ()
    beliefs: tuple[str, ...] = ()
    wrong: tuple[Wrong, ...] = ()
    items: tuple[int, ...] = ()
    limits: Limits = Limits(Decimal("0.5"), Decimal("0.15"))
    seed: int = 0

    def variant(self, seed: int | None) -> Exercise:
        """The same idea on another trace; 0 or None is this file's own. Equal seeds give equal traces.

        Raises InputError for a seed that is no whole number of at least 0.
        """
        from puzzles.variants import variant

        return variant(self, seed)

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """Every answer to give, in the order in which they are asked (``puzzles.asking``)."""
        from puzzles.asking import every_field

        return every_field(self)

    @cached_property
    def wrong_values(self) -> dict[tuple[str, str, float | str | None], tuple[Fraction | str, ...]]:
        """What ``puzzles.mistakes`` has found so far: by field, belief and correct value."""
        return {}

    def run(self, name: str) -> Run:
        """The run of that name. Raises KeyError."""
        return {run.name: run for run in self.runs}[name]

    def service_of(self, name: str) -> Service:
        """The settings of the run ``name``. Raises InputError for a setting that does not exist."""
        settings = self.service | self.run(name).service
        unknown = sorted(set(settings) - set(SETTINGS))
        if unknown:
            raise InputError(f"run {name}: {unknown[0]!r} is not one of {', '.join(SETTINGS)}")
        known: dict[str, Any] = {key: None if value == "none" else value for key, value in settings.items()}
        return Service(**known)

    def requests_of(self, name: str) -> tuple[Request, ...]:
        """The trace of the run ``name``: that of the exercise, with the run's edits."""
        return edited(self.requests, self.run(name), self.variants.texts)

    def request(self, key: str) -> Request:
        """The request of that id. Raises KeyError."""
        return {request.id: request for request in self.requests}[key]

    def filled(self, text: str) -> str:
        """An expression with the givens in its blanks."""
        for name, value in self.given.items():
            text = text.replace(f"{{{name}}}", value)
        return text

    def words(self, language: str) -> Catalogue:
        """The texts of this room and the exercise's own, which win. Raises KeyError for another language."""
        room = puzzle_words(language)
        own = filled_texts(self.texts[language], self.given, room)
        return Catalogue(language, room.texts | {"summary": own.get("lead", "")} | own)


class RunSpec(msgspec.Struct, frozen=True):
    """One configuration to run: ``weights`` is fp32, int8 or int4; ``horizon`` (s) ends its window."""

    name: str
    service: Service
    requests: tuple[Request, ...]
    part: str
    weights: str = "fp32"
    horizon: Decimal | None = None


def runs(exercise: Exercise) -> tuple[RunSpec, ...]:
    """Every configuration of the exercise, in the order of its file."""
    return tuple(
        RunSpec(
            run.name,
            exercise.service_of(run.name),
            exercise.requests_of(run.name),
            run.part,
            run.weights,
            run.horizon,
        )
        for run in exercise.runs
    )
