"""The verdict: your number, the number, the difference; and the belief a wrong number betrays."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import msgspec

from engine import History
from engine.words import Catalogue
from puzzles.asking import Field, fields, right
from puzzles.beliefs import Belief
from puzzles.comparison import PolicyTable, policy_table
from puzzles.derivations import derivation
from puzzles.evidence import RULE_OF_METRIC, EvidenceRow, Scene, evidence, happens
from puzzles.exercise import Exercise
from puzzles.expressions import names_in
from puzzles.finished import Finished
from puzzles.mistakes import hit
from puzzles.solving import read_all, values
from puzzles.units import bound_of, digits, printed
from puzzles.words import DASH, exact, number, run_name

Answer = float | str | None
GIVEN = ("prompt", "output")  # figures of a request that no run is needed for
USUAL = "waits"  # the rule of a question that names none


class BeliefHit(msgspec.Struct, frozen=True):
    """A known belief: its short name, what is wrong with it here, and the rows that refute it."""

    name: str
    title: str
    sentence: str
    evidence: tuple[EvidenceRow, ...]


class Item(msgspec.Struct, frozen=True):
    """One field judged. ``given`` None: not answered. ``difference`` is given − correct, None for a choice.

    ``derivation`` is the arithmetic of the correct value, ``rows`` the ticks it is read from.
    """

    key: str
    part: str
    label: str
    unit: str
    required: bool
    given: Answer
    correct: Answer
    difference: float | None
    right: bool
    belief: BeliefHit | None
    derivation: str
    rows: tuple[EvidenceRow, ...]


class Verdict(msgspec.Struct, frozen=True):
    """``table`` is policies × metrics; ``score`` of the ``asked`` answers given are right."""

    table: PolicyTable
    items: tuple[Item, ...]
    score: int
    asked: int


def verdict(
    exercise: Exercise, answers: Mapping[str, float | str], histories: Mapping[str, History], language: str
) -> Verdict:
    """Judge ``answers`` by the finished runs ``histories``. Every field has its item, in the order asked.

    Raises KeyError when a run that a field needs is missing, or the language is unknown.
    """
    return case_of(exercise, histories, language).verdict(answers)


def case_of(exercise: Exercise, histories: Mapping[str, History], language: str) -> Case:
    """The exercise with its finished runs, to judge whatever is answered."""
    runs = read_all(exercise, histories)
    return Case(exercise, runs, values(exercise, runs), exercise.words(language))


class Case(msgspec.Struct, frozen=True, dict=True):
    """What is the same whatever was answered; a class that is judged by the same runs shares it.

    Each part is worked out when it is first needed.
    """

    exercise: Exercise
    runs: Mapping[str, Finished]
    correct: dict[str, Answer]
    words: Catalogue

    def verdict(self, answers: Mapping[str, float | str]) -> Verdict:
        """Judge ``answers``."""
        judge = Judge(self, dict(answers))
        items = tuple(judge.item(field) for field in fields(self.exercise))
        return Verdict(
            table=self.table,
            items=items,
            score=sum(item.right for item in items),
            asked=sum(item.given is not None for item in items),
        )

    @cached_property
    def table(self) -> PolicyTable:
        """Policies × metrics."""
        histories = {name: run.history for name, run in self.runs.items()}
        return policy_table(self.exercise, histories, self.words)

    @cached_property
    def labels(self) -> dict[str, str]:
        """What is asked, by field."""
        return {field.key: field.label(self.words) for field in fields(self.exercise)}

    @cached_property
    def derivations(self) -> dict[str, str]:
        """How the correct value comes about, by field."""
        return {field.key: derivation(field, self.runs, self.words) for field in fields(self.exercise)}

    @cached_property
    def points(self) -> dict[str, str]:
        """What the runs show, in a sentence or two, by part."""
        names = [part.name for part in self.exercise.parts]
        return {name: self.words(f"part.{name}.point", **self.figures) for name in names}

    @cached_property
    def figures(self) -> dict[str, str]:
        """The correct values as blanks of a text, and the throughput of every run."""
        return figures(self.exercise, self.correct, self.words) | throughputs(self.runs)

    def rows(self, rule: str, names: tuple[str, ...], request: str | None) -> tuple[EvidenceRow, ...]:
        """The ticks of ``rule`` about ``request``: in the first of the runs ``names`` that has what the rule
        looks for, else in the first of them."""
        place = rule, names, request
        if place not in self._rows:
            scenes = [Scene(name, self.runs[name], request, self.words) for name in names]
            scene = next((scene for scene in scenes if happens(rule, scene)), scenes[0])
            self._rows[place] = evidence(rule, scene)
        return self._rows[place]

    @cached_property
    def _rows(self) -> dict[tuple[str, tuple[str, ...], str | None], tuple[EvidenceRow, ...]]:
        return {}


class Judge(msgspec.Struct, frozen=True):
    """Judges the answers of one learner, one field after the other."""

    case: Case
    answers: dict[str, float | str]

    def item(self, field: Field) -> Item:
        """One field judged."""
        given, correct = self.answers.get(field.key), self.case.correct[field.key]
        fits = given is not None and right(field, given, correct)
        return Item(
            key=field.key,
            part=field.part,
            label=self.case.labels[field.key],
            unit=field.unit,
            required=field.required,
            given=given,
            correct=correct,
            difference=_difference(given, correct),
            right=fits,
            belief=None if given is None or fits else self._belief(field),
            derivation=self.case.derivations[field.key],
            rows=self._rows(field.rule or RULE_OF_METRIC.get(field.metric, USUAL), field),
        )

    def _belief(self, field: Field) -> BeliefHit | None:
        belief = hit(self.case.exercise, field, self.answers, self.case.correct[field.key])
        if belief is None:
            return None
        words = self.case.words
        sentence = words(self._text(belief, field), **self._blanks(field))
        return BeliefHit(
            belief.name,
            words(f"belief.{belief.name}.title"),
            sentence,
            self._rows(_rule(belief, field), field),
        )

    def _text(self, belief: Belief, field: Field) -> str:
        """The key of the sentence: one for choices, one for a metric if it has its own, else the usual."""
        special = f"belief.{belief.name}.{'choice' if field.choices else field.metric}"
        return special if special in self.case.words else f"belief.{belief.name}"

    def _rows(self, rule: str, field: Field) -> tuple[EvidenceRow, ...]:
        """The ticks that settle ``field``. None for arithmetic that looks at no run: there the line of
        arithmetic is what settles it, unless the exercise says by ``rule`` which ticks show it too."""
        if rule == USUAL and field.value is not None and not of_runs(field.value, self.case.runs):
            return ()
        run, request = self._where(field)
        return self.case.rows(rule, tuple(dict.fromkeys((run, *field.runs))), request)

    def _where(self, field: Field) -> tuple[str, str | None]:
        """Where to look: the run of the field, or the run that was chosen; and the request in question."""
        given = self.answers.get(field.key)
        run = given if isinstance(given, str) and given in field.runs else field.run
        chosen = isinstance(given, str) and given in self.case.runs[run].lives
        return run, field.request or (str(given) if chosen else field.about)

    def _blanks(self, field: Field) -> dict[str, str]:
        """The blanks a belief's sentence may use."""
        case = self.case
        request = case.runs[field.run].history.requests[field.request] if field.request else None
        tokens = request.output_tokens if request else 0
        return case.figures | {
            "given": shown(self.answers[field.key], field.unit, case.words),
            "correct": shown(case.correct[field.key], field.unit, case.words),
            "request": field.request or "",
            "n": str(tokens),
            "gaps": str(tokens - 1),
            "prompt": str(request.prompt_tokens) if request else "",
            "slots": str(case.exercise.service_of(field.run).decode_slots),
        }


def _rule(belief: Belief, field: Field) -> str:
    """The rule of the belief. Slots are contested between tokens: of a first token the wait is shown."""
    return USUAL if belief.rule == "contest" and field.metric == "ttft" else belief.rule


def shown(value: Answer, unit: str, words: Catalogue) -> str:
    """A value as the page prints it, with its unit."""
    if value is None:
        return words("value.none")
    if isinstance(value, str):
        return run_name(value, words) if bound_of(value) is None else f"{value} {unit}"
    return printed(value, unit, words)


def figures(exercise: Exercise, correct: Mapping[str, Answer], words: Catalogue) -> dict[str, str]:
    """Every correct value as a blank of a text: static.R02.ttft is {static_R02_ttft}."""
    found = ((field, correct[field.key]) for field in fields(exercise))
    return {field.key.replace(".", "_"): _figure(field, value, words) for field, value in found}


def throughputs(runs: Mapping[str, Finished]) -> dict[str, str]:
    """Tokens per second as a blank of a text: that of static is {static_throughput}."""
    rates = {name: run.metrics.summary.throughput or 0.0 for name, run in runs.items()}
    return {f"{name}_throughput": number(round(rate, 2)) for name, rate in rates.items()}


def _figure(field: Field, value: Answer, words: Catalogue) -> str:
    if isinstance(value, float):
        return digits(value, field.unit)
    return DASH if value is None else run_name(value, words)


def _difference(given: Answer, correct: Answer) -> float | None:
    if isinstance(given, float | int) and isinstance(correct, float):
        return float(exact(given) - exact(correct))
    return None


def reads_runs(exercise: Exercise) -> bool:
    """Whether what must be answered is read off a run, so that a table of the runs belongs beside it."""
    runs = {run.name for run in exercise.runs}
    asked = [field.value for field in fields(exercise) if field.required]
    paths = [path for value in asked if value is not None for path in names_in(value)]
    return None in asked or any(path[0] in runs and path[-1] not in GIVEN for path in paths)


def of_runs(value: str, runs: Mapping[str, object]) -> bool:
    """Whether an expression looks at a run; else it is arithmetic, or about recorded figures."""
    return any(path[0] in runs for path in names_in(value))
