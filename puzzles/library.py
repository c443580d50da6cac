"""The exercises in ``exercises/``: loaded once, and proved usable when they are."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec

from engine import InputError, Request
from engine.traces import MAIN_NAME, main_trace
from puzzles.checking import check, known
from puzzles.course import FOLDER, course, names
from puzzles.exercise import Exercise, Variants
from puzzles.variants import drawn_trace
from puzzles.words import puzzle_words

__all__ = ["FOLDER", "load", "names", "read"]

TRACES = {MAIN_NAME: main_trace}


@cache
def load(name: str) -> Exercise:
    """The exercise of that name. Raises InputError, one sentence that says what and where."""
    if name not in names():
        raise InputError.of("no_exercise", words=puzzle_words, name=repr(name), names=tuple(names()))
    return read(FOLDER / f"{name}.toml")


def read(path: Path) -> Exercise:
    """The exercise in a file, checked. Raises InputError that names the file and the place."""
    try:
        exercise = msgspec.toml.decode(path.read_bytes(), type=Exercise)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise InputError(f"{path.name}: {error}") from None
    try:
        exercise = _with_requests(_with_variants(exercise))
        check(exercise)
    except InputError as error:
        raise error.at(path.name) from None
    return exercise


def _with_variants(exercise: Exercise) -> Exercise:
    """What the file leaves to the course: the lines, and what R01–R04 are drawn from."""
    own = exercise.variants
    shared = course().requests if exercise.trace is not None else ()
    variants: Variants = msgspec.structs.replace(
        own, texts=own.texts or course().texts, requests=own.requests or shared
    )
    return msgspec.structs.replace(exercise, variants=variants)


def _with_requests(exercise: Exercise) -> Exercise:
    if exercise.drawn is not None:
        return msgspec.structs.replace(exercise, requests=drawn_trace(exercise))
    if exercise.trace is not None:
        known(exercise.trace, TRACES, "trace")
        return msgspec.structs.replace(exercise, requests=tuple(TRACES[exercise.trace]()))
    texts = exercise.variants.texts
    said = (_with_prompt(one, texts[place % len(texts)]) for place, one in enumerate(exercise.requests))
    return msgspec.structs.replace(exercise, requests=tuple(said))


def _with_prompt(request: Request, line: str) -> Request:
    """A request that the file lists without a prompt says the beginning of a line."""
    if request.prompt is not None or len(line) < request.prompt_tokens:
        return request
    return msgspec.structs.replace(request, prompt=line[: request.prompt_tokens])
