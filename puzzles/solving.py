"""The correct values of an exercise, always computed from runs."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache

from engine import History, Request, Service, simulate
from puzzles.asking import Field, fields
from puzzles.exercise import Exercise, runs
from puzzles.finished import Finished, finished
from puzzles.measures import MEASURES, Value, p95_ttft, smallest

Answers = dict[str, float | str | None]


@lru_cache(maxsize=512)
def ledger(requests: tuple[Request, ...], service: Service) -> History:
    """The run of ``requests`` in the ledger. Shared: nobody may change it."""
    return simulate(requests, service)


def histories(exercise: Exercise) -> dict[str, History]:
    """The ledger's history of every run of the exercise, by name."""
    return {spec.name: ledger(spec.requests, spec.service) for spec in runs(exercise)}


def solve(exercise: Exercise, given: Mapping[str, History] | None = None) -> Answers:
    """The correct value of every field, from the ledger or from the ``given`` finished runs.

    None where a value does not exist. Raises KeyError when a run that a field needs is not given.
    """
    return values(exercise, finished(histories(exercise) if given is None else given))


def values(exercise: Exercise, runs: Mapping[str, Finished]) -> Answers:
    """The same, from runs that have been read already."""
    return {field.key: _plain(_value(field, runs)) for field in fields(exercise)}


def _value(field: Field, found: Mapping[str, Finished]) -> Value:
    if field.choices is not None:
        best = smallest({name: p95_ttft(found[name].metrics) for name in field.choices})
        return best[0] if len(best) == 1 else None
    measure, run = MEASURES[field.metric], found[field.run]
    if measure.request is not None and field.request is not None:
        return measure.request(run, field.request)
    assert measure.run is not None
    return measure.run(run)


def _plain(value: Value) -> float | str | None:
    return float(value) if isinstance(value, Fraction) else value
