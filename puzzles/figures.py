"""The figures that expressions name: of runs, of models, of the engine's record."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cache

from engine import InputError
from puzzles.calculator import FIGURES, model
from puzzles.exercise import Exercise
from puzzles.expressions import Find, Path, Value, names_in
from puzzles.finished import Finished
from puzzles.measures import MEASURES, OF_A_REQUEST, OF_A_RUN
from puzzles.quantization import CacheMode, Format, Recorded, Shared, Speed, read
from puzzles.words import exact

KV, RECORDED = "kv", "recorded"


def finder(runs: Mapping[str, Finished]) -> Find:
    """Looks names up in finished runs, among the named models, and in the record."""
    return lambda path: figure(path, runs)


def figure(path: Path, runs: Mapping[str, Finished]) -> Value:
    """The value of one name. Raises KeyError for a run that is not given."""
    if path[0] == KV:
        return Fraction(getattr(model(path[1]), path[2]))
    if path[0] == RECORDED:
        return recorded_figure(path[1], path[2])
    *run, request, name = path if len(path) > 2 else (path[0], "", path[1])
    measure, found = MEASURES[name], runs[".".join(run)]
    if measure.request is not None:
        return measure.request(found, request)
    assert measure.run is not None
    return measure.run(found)


def runs_in(text: str) -> tuple[str, ...]:
    """The runs that an expression names, in order."""
    paths = (path for path in names_in(text) if path[0] not in (KV, RECORDED))
    return tuple(dict.fromkeys(path[0] for path in paths))


# ---- the engine's record -------------------------------------------------------------------------

BITS = {"fp32": 32, "int8": 8, "int4": 4}
OF_A_FORMAT = ("bits", "linear_share", "total_share", "loss", "changed", "milliseconds")
OF_A_CACHE = {"largest": "largest", "keys_error": "key_error", "values_error": "value_error"}  # kv_MODE
OF_A_PAIR = ("difference", "margin", "same")  # fast_ID, exact_ID: a request alone and in company


@cache
def _record() -> Recorded:
    found = read()
    if found is None:
        raise InputError("no record of an engine run is committed")
    return found


def recorded_figure(name: str, what: str) -> Value:
    """A figure of the record by the name of what it is about.

    A weight format: shares of fp32 in %, loss in nats per byte, tokens changed, ms. 8-bit KV (``kv_`` and the
    mode): largest |Δlogit|, errors. A request alone and in company (mode and id): largest |Δlogit|, the least
    lead of a chosen token, and 1 when all tokens are the same.
    """
    if what in OF_A_CACHE and name in _caches():
        return exact(getattr(_caches()[name], OF_A_CACHE[what]))
    if what in OF_A_PAIR:
        return _of_a_pair(_pairs()[name], what)
    if what == "bits":
        return Fraction(BITS[name])
    if what == "milliseconds":
        return exact(round(_alone(name).milliseconds, 5))
    form = _format(name)
    if what == "changed":
        steps = [step for prompt in form.prompts for step in prompt.forced]
        return Fraction(sum(step.chosen != step.token for step in steps))
    if what == "loss":
        return exact(form.held_out.loss)
    return exact(form.linear_ratio if what == "linear_share" else form.total_ratio) * 100


def _of_a_pair(pair: Shared, what: str) -> Value:
    return Fraction(pair.same_tokens) if what == "same" else Fraction(str(getattr(pair, what)))


def _caches() -> dict[str, CacheMode]:
    return {f"kv_{one.mode}": one for one in _record().caches}


def _pairs() -> dict[str, Shared]:
    return {f"{one.mode}_{one.id}": one for one in _record().company}


def _format(name: str) -> Format:
    return next(form for form in _record().comparison.formats if form.format == name)


def _alone(name: str) -> Speed:
    """The decode step of a single sequence."""
    return next(speed for speed in _record().speed if (speed.format, speed.rows) == (name, 1))


# ---- whether a name points somewhere -------------------------------------------------------------


def check_names(text: str, exercise: Exercise) -> None:
    """Raise InputError when the expression names a run, request, measure or model that is not there."""
    for path in names_in(text):
        shown = ".".join(path)
        if not _known(path, exercise):
            raise InputError(f"{text!r}: {shown!r} is not a figure of this exercise")


def _known(path: Path, exercise: Exercise) -> bool:
    if path[0] == KV:
        return len(path) == 3 and path[2] in FIGURES and bool(model(path[1]))
    if path[0] == RECORDED:
        return len(path) == 3 and _recorded(path[1], path[2])
    if path[0] not in {run.name for run in exercise.runs}:
        return False
    if len(path) == 2:
        return path[1] in OF_A_RUN
    present = {request.id for request in exercise.requests_of(path[0])}
    return len(path) == 3 and path[1] in present and path[2] in OF_A_REQUEST


def _recorded(name: str, what: str) -> bool:
    """Whether the record has that figure."""
    if name in _formats():
        return what in OF_A_FORMAT
    return what in OF_A_CACHE if name in _caches() else what in OF_A_PAIR and name in _pairs()


def _formats() -> set[str]:
    return {form.format for form in _record().comparison.formats}
