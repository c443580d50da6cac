"""Whether an exercise is usable: names point somewhere, settings make sense, no text is missing."""

from __future__ import annotations

from collections.abc import Iterable
from string import Formatter

from engine import InputError
from engine.words import LANGUAGES
from puzzles.asking import fields
from puzzles.beliefs import BELIEFS
from puzzles.edits import check_edits
from puzzles.evidence import RULES
from puzzles.exercise import Exercise
from puzzles.figures import check_names
from puzzles.measures import MEASURES
from puzzles.units import UNITS


def known(name: str, allowed: Iterable[str], what: str) -> None:
    """Raise InputError when ``name`` is not one of those that are allowed."""
    if name not in allowed:
        raise InputError(f"{what} {name!r} is not one of {', '.join(allowed)}")


def check(exercise: Exercise) -> None:
    """Raise InputError when a name points nowhere, a setting is wrong, or a text is missing."""
    _check_runs(exercise)
    _check_questions(exercise)
    _check_asks(exercise)
    _check_fields(exercise)
    _check_beliefs(exercise)
    _check_variants(exercise)
    _check_texts(exercise)


def _check_runs(exercise: Exercise) -> None:
    if not exercise.requests:
        raise InputError("there are no requests: trace, requests or drawn is needed")
    parts = [part.name for part in exercise.parts]
    found: set[str] = set()
    for run in exercise.runs:
        known(run.part, parts, f"run {run.name}: part")
        if run.name in found:
            raise InputError(f"run {run.name!r} stands twice; every name must be its own")
        found.add(run.name)
        exercise.service_of(run.name)
        check_edits(exercise.requests, run, f"run {run.name}")


def _check_questions(exercise: Exercise) -> None:
    requests = [request.id for request in exercise.requests]
    run_names = [run.name for run in exercise.runs]
    for question in exercise.questions:
        for run in question.runs:
            known(run, run_names, "question: run")
        for request in question.requests:
            known(request, requests, "question: request")
        for metric in question.metrics:
            known(metric, MEASURES, "question: metric")


def _check_asks(exercise: Exercise) -> None:
    parts, requests = [part.name for part in exercise.parts], [one.id for one in exercise.requests]
    for ask in exercise.asks:
        known(ask.part, parts, f"ask {ask.key}: part")
        known(ask.unit, ("", *UNITS), f"ask {ask.key}: unit")
        known(ask.rule, RULES, f"ask {ask.key}: rule")
        if ask.request is not None:
            known(ask.request, requests, f"ask {ask.key}: request")
        check_names(exercise.filled(ask.value), exercise)


def _check_fields(exercise: Exercise) -> None:
    found = fields(exercise)
    keys = [field.key for field in found]
    for key in (*exercise.required, *([exercise.observe] if exercise.observe else [])):
        known(key, keys, "field")
    if len(set(keys)) < len(keys):
        raise InputError("two questions make a field of the same key; every key must be its own")
    for field in found:
        if field.choices is None and not field.unit:
            raise InputError(f"ask {field.key}: a number needs a unit, one of {', '.join(UNITS)}")


def _check_beliefs(exercise: Exercise) -> None:
    own = [wrong.name for wrong in exercise.wrong]
    keys = [field.key for field in fields(exercise)]
    for name in (*exercise.beliefs, *(exercise.variants.caught or ())):
        known(name, (*BELIEFS, *own), "belief")
    for wrong in exercise.wrong:
        known(wrong.rule, RULES, f"wrong {wrong.name}: rule")
        for key in wrong.fields:
            known(key, keys, f"wrong {wrong.name}: field")
        check_names(exercise.filled(wrong.value), exercise)


def _check_variants(exercise: Exercise) -> None:
    drawn = [ranges.id for ranges in exercise.variants.requests]
    if exercise.drawn is None and drawn != [request.id for request in exercise.requests]:
        raise InputError("variants: the requests are not those of the trace, in the same order")
    for text in exercise.variants.keep:
        check_names(exercise.filled(text), exercise)
    for name in exercise.variants.given:
        known(name, exercise.given, "variants: given")
    spans = [ranges.prompt for ranges in exercise.variants.requests]
    spans += [exercise.drawn.prompt] if exercise.drawn else []
    longest = max(most for _, most in spans)
    for line in exercise.variants.texts:
        if not line.isascii() or len(line) < longest:
            raise InputError(f"variants: text {line!r} is not ASCII of at least {longest} characters")


# ---- texts ---------------------------------------------------------------------------------------


def _check_texts(exercise: Exercise) -> None:
    known(LANGUAGES[0], exercise.texts, "texts: language")
    first = _shape(exercise.texts[LANGUAGES[0]])
    for language in LANGUAGES:
        known(language, exercise.texts, "texts: language")
        other = _shape(exercise.texts[language])
        for key in sorted(first.keys() | other.keys()):
            if first.get(key) != other.get(key):
                raise InputError(f"texts: {key!r} is not the same in {LANGUAGES[0]} and {language}")
        _check_needed(exercise, language)


def _check_needed(exercise: Exercise, language: str) -> None:
    words = exercise.words(language)
    for key in needed_texts(exercise):
        if key not in words:
            raise InputError(f"texts: {key!r} is missing in {language}")


def needed_texts(exercise: Exercise) -> list[str]:
    """The keys of every text the exercise is shown with."""
    keys = ["title", "summary", "lead"]
    keys += [f"part.{part.name}.{end}" for part in exercise.parts for end in ("title", "ask", "point")]
    keys += [f"ask.{ask.key}" for ask in exercise.asks]
    keys += [f"run.{run.name}.short" for run in exercise.runs]
    return keys + [f"belief.{wrong.name}{end}" for wrong in exercise.wrong for end in ("", ".title")]


def _shape(texts: dict[str, str]) -> dict[str, set[str]]:
    """The blanks of each text."""
    return {key: {name for _, name, _, _ in Formatter().parse(text) if name} for key, text in texts.items()}
