"""The exercises in ``exercises/``: loaded once, and proved usable when they are."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from string import Formatter

import msgspec

from engine import InputError
from engine.traces import MAIN_NAME, main_trace
from engine.words import LANGUAGES
from puzzles.asking import fields
from puzzles.beliefs import BELIEFS
from puzzles.exercise import Exercise
from puzzles.measures import MEASURES

FOLDER = Path(__file__).parent / "exercises"
TRACES = {MAIN_NAME: main_trace}


def names() -> tuple[str, ...]:
    """The names of all exercises, in order."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


@cache
def load(name: str) -> Exercise:
    """The exercise of that name. Raises InputError, one sentence that says what and where."""
    if name not in names():
        raise InputError(f"exercise {name!r} is not one of {', '.join(names())}")
    return read(FOLDER / f"{name}.toml")


def read(path: Path) -> Exercise:
    """The exercise in a file, checked. Raises InputError that names the file and the place."""
    try:
        exercise = msgspec.toml.decode(path.read_bytes(), type=Exercise)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise InputError(f"{path.name}: {error}") from None
    try:
        exercise = _with_requests(exercise)
        check(exercise)
    except InputError as error:
        raise InputError(f"{path.name}: {error}") from None
    return exercise


def _with_requests(exercise: Exercise) -> Exercise:
    if exercise.trace is None:
        return exercise
    _known(exercise.trace, TRACES, "trace")
    return msgspec.structs.replace(exercise, requests=tuple(TRACES[exercise.trace]()))


def _known(name: str, allowed: Iterable[str], what: str) -> None:
    if name not in allowed:
        raise InputError(f"{what} {name!r} is not one of {', '.join(allowed)}")


def check(exercise: Exercise) -> None:
    """Raise InputError when a name points nowhere, a setting is wrong, or a text is missing."""
    _check_runs(exercise)
    _check_questions(exercise)
    _check_beliefs(exercise)
    _check_variants(exercise)
    _check_texts(exercise)


def _check_runs(exercise: Exercise) -> None:
    parts = [part.name for part in exercise.parts]
    found: set[str] = set()
    for run in exercise.runs:
        _known(run.part, parts, f"run {run.name}: part")
        if run.name in found:
            raise InputError(f"run {run.name!r} stands twice; every name must be its own")
        found.add(run.name)
        exercise.service_of(run.name)


def _check_questions(exercise: Exercise) -> None:
    requests = [request.id for request in exercise.requests]
    run_names = [run.name for run in exercise.runs]
    for question in exercise.questions:
        for run in question.runs:
            _known(run, run_names, "question: run")
        for request in question.requests:
            _known(request, requests, "question: request")
        for metric in question.metrics:
            _known(metric, MEASURES, "question: metric")
    keys = [field.key for field in fields(exercise)]
    for key in (*exercise.required, *([exercise.observe] if exercise.observe else [])):
        _known(key, keys, "field")
    if len(set(keys)) < len(keys):
        raise InputError("two questions make a field of the same key; every key must be its own")


def _check_beliefs(exercise: Exercise) -> None:
    for name in (*exercise.beliefs, *exercise.variants.caught):
        _known(name, BELIEFS, "belief")


def _check_variants(exercise: Exercise) -> None:
    drawn = [ranges.id for ranges in exercise.variants.requests]
    if drawn != [request.id for request in exercise.requests]:
        raise InputError("variants: the requests are not those of the trace, in the same order")
    longest = max(ranges.prompt[1] for ranges in exercise.variants.requests)
    for line in exercise.variants.texts:
        if not line.isascii() or len(line) < longest:
            raise InputError(f"variants: text {line!r} is not ASCII of at least {longest} characters")


def _check_texts(exercise: Exercise) -> None:
    _known(LANGUAGES[0], exercise.texts, "texts: language")
    first = _shape(exercise.texts[LANGUAGES[0]])
    for language in LANGUAGES:
        _known(language, exercise.texts, "texts: language")
        other = _shape(exercise.texts[language])
        for key in sorted(first.keys() | other.keys()):
            if first.get(key) != other.get(key):
                raise InputError(f"texts: {key!r} is not the same in {LANGUAGES[0]} and {language}")


def _shape(texts: dict[str, str]) -> dict[str, set[str]]:
    """The blanks of each text."""
    return {key: {name for _, name, _, _ in Formatter().parse(text) if name} for key, text in texts.items()}
