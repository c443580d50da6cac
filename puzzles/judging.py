"""The verdict: your number, the number, the difference; and the belief a wrong number betrays."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from engine import History
from engine.words import Catalogue
from puzzles.asking import Field, fields, right
from puzzles.beliefs import Belief
from puzzles.comparison import PolicyTable, policy_table
from puzzles.derivations import derivation
from puzzles.evidence import RULE_OF_METRIC, EvidenceRow, Scene, evidence
from puzzles.exercise import Exercise
from puzzles.expressions import names_in
from puzzles.finished import Finished
from puzzles.mistakes import hit
from puzzles.solving import read_all, values
from puzzles.units import bound_of, digits, printed
from puzzles.words import DASH, exact, run_name

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
    judge = judge_of(exercise, answers, histories, language)
    items = tuple(judge.item(field) for field in fields(exercise))
    return Verdict(
        table=policy_table(exercise, histories, judge.words),
        items=items,
        score=sum(item.right for item in items),
        asked=sum(item.given is not None for item in items),
    )


def judge_of(
    exercise: Exercise, answers: Mapping[str, float | str], histories: Mapping[str, History], language: str
) -> Judge:
    """Whoever judges ``answers`` by the finished runs."""
    runs = read_all(exercise, histories)
    return Judge(exercise, dict(answers), runs, values(exercise, runs), exercise.words(language))


class Judge(msgspec.Struct, frozen=True):
    """What is needed to judge one field after the other."""

    exercise: Exercise
    answers: dict[str, float | str]
    runs: Mapping[str, Finished]
    correct: dict[str, Answer]
    words: Catalogue

    def item(self, field: Field) -> Item:
        """One field judged."""
        given, correct = self.answers.get(field.key), self.correct[field.key]
        fits = given is not None and right(field, given, correct)
        return Item(
            key=field.key,
            part=field.part,
            label=field.label(self.words),
            unit=field.unit,
            required=field.required,
            given=given,
            correct=correct,
            difference=_difference(given, correct),
            right=fits,
            belief=None if given is None or fits else self._belief(field),
            derivation=derivation(field, self.runs, self.words),
            rows=self._rows(field.rule or RULE_OF_METRIC.get(field.metric, USUAL), field),
        )

    def _scene(self, field: Field) -> Scene:
        """Where to look: the run of the field; of a wrong choice, the run that was chosen."""
        given = self.answers.get(field.key)
        run = given if isinstance(given, str) and given in field.runs else field.run
        request = given if isinstance(given, str) and given in self.runs[run].lives else field.about
        return Scene(run, self.runs[run], field.request or request, self.words)

    def _belief(self, field: Field) -> BeliefHit | None:
        belief = hit(self.exercise, field, self.answers, self.correct[field.key])
        if belief is None:
            return None
        sentence = self.words(self._text(belief, field), **self._blanks(field))
        title = self.words(f"belief.{belief.name}.title")
        return BeliefHit(belief.name, title, sentence, self._evidence(belief, field))

    def _text(self, belief: Belief, field: Field) -> str:
        """The key of the sentence: one for choices, one for a metric if it has its own, else the usual."""
        special = f"belief.{belief.name}.{'choice' if field.choices else field.metric}"
        return special if special in self.words else f"belief.{belief.name}"

    def _evidence(self, belief: Belief, field: Field) -> tuple[EvidenceRow, ...]:
        return self._rows(belief.rule, field)

    def _rows(self, rule: str, field: Field) -> tuple[EvidenceRow, ...]:
        """The ticks that settle ``field``. None for arithmetic that looks at no run: there the line of
        arithmetic is what settles it, unless the exercise says by ``rule`` which ticks show it too."""
        if rule == USUAL and field.value is not None and not of_runs(field.value, self.runs):
            return ()
        return evidence(rule, self._scene(field))

    def _blanks(self, field: Field) -> dict[str, str]:
        """The blanks a belief's sentence may use."""
        given = self.answers[field.key]
        request = self.runs[field.run].history.requests[field.request] if field.request else None
        tokens = request.output_tokens if request else 0
        return figures(self.exercise, self.correct, self.words) | {
            "given": shown(given, field.unit, self.words),
            "correct": shown(self.correct[field.key], field.unit, self.words),
            "request": field.request or "",
            "n": str(tokens),
            "gaps": str(tokens - 1),
            "prompt": str(request.prompt_tokens) if request else "",
            "slots": str(self.exercise.service_of(field.run).decode_slots),
        }


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
