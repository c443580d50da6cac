"""The correct values of an exercise, always computed from runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from engine import History, Request, Service, simulate
from puzzles.asking import Field, fields
from puzzles.exercise import Exercise, runs
from puzzles.expressions import evaluate
from puzzles.figures import finder
from puzzles.finished import Finished, Promise, finished, read_once
from puzzles.measures import MEASURES, Value, p95_ttft, smallest

Answers = dict[str, float | str | None]


@lru_cache(maxsize=512)
def ledger(requests: tuple[Request, ...], service: Service, horizon: Decimal | None = None) -> History:
    """The run of ``requests`` in the ledger. Shared: nobody may change it."""
    return simulate(requests, service, horizon)


@lru_cache(maxsize=512)
def _read(
    requests: tuple[Request, ...], service: Service, horizon: Decimal | None, limits: Promise
) -> Finished:
    return read_once(ledger(requests, service, horizon), limits)


def histories(exercise: Exercise) -> dict[str, History]:
    """The ledger's history of every run of the exercise, by name."""
    return {spec.name: ledger(spec.requests, spec.service, spec.horizon) for spec in runs(exercise)}


def in_ledger(exercise: Exercise) -> dict[str, Finished]:
    """The ledger's runs, read."""
    limits = promise(exercise)
    return {one.name: _read(one.requests, one.service, one.horizon, limits) for one in runs(exercise)}


def promise(exercise: Exercise) -> Promise:
    """The limits that requests of the exercise are judged by."""
    return Promise(exercise.limits.ttft, exercise.limits.tpot)


def observed(exercise: Exercise, given: Mapping[str, History]) -> dict[str, History]:
    """The given runs as far as their horizons let one see: a run may have gone on after its window."""
    horizons = {run.name: run.horizon for run in exercise.runs}
    return {name: _until(history, horizons.get(name)) for name, history in given.items()}


def _until(history: History, horizon: Decimal | None) -> History:
    if horizon is None or history.horizon == horizon:
        return history
    tick = history.service.tick
    records = [record for record in history.records if record.tick * tick < horizon]
    return replace(history, records=records, horizon=horizon)


def read_all(exercise: Exercise, given: Mapping[str, History]) -> dict[str, Finished]:
    """The given runs within their horizons, read under the limits of the exercise."""
    return finished(observed(exercise, given), promise(exercise))


def solve(exercise: Exercise, given: Mapping[str, History] | None = None) -> Answers:
    """The correct value of every field, from the ledger or from the ``given`` finished runs.

    None where a value does not exist. Raises KeyError when a run that a field needs is not given.
    """
    return values(exercise, in_ledger(exercise) if given is None else read_all(exercise, given))


def values(exercise: Exercise, runs: Mapping[str, Finished]) -> Answers:
    """The same, from runs that have been read already."""
    return {field.key: _plain(_value(field, runs)) for field in fields(exercise)}


def _value(field: Field, found: Mapping[str, Finished]) -> Value:
    if field.value is not None:
        return evaluate(field.value, finder(found))
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
