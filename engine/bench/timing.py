"""Timing on a machine that others use too: contenders take turns, medians and paired ratios count."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeVar

Value = TypeVar("Value")
Name = TypeVar("Name")

median = statistics.median
"""Of an iterable of numbers."""


def take_turns(
    contenders: Mapping[Name, Callable[[], Value]], repeats: int, *, warm_up: int = 1
) -> dict[Name, list[Value]]:
    """What every contender returned, ``repeats`` times each, after ``warm_up`` rounds that do not count.

    A busy moment of the machine falls on neighbours in time, hence on all contenders alike.
    """
    found: dict[Name, list[Value]] = {name: [] for name in contenders}
    for repeat in range(-warm_up, repeats):
        for name, function in contenders.items():
            value = function()
            if repeat >= 0:
                found[name].append(value)
    return found


def seconds(function: Callable[[], object]) -> float:
    """Wall-clock seconds of one call."""
    began = time.perf_counter()
    function()
    return time.perf_counter() - began


def least_seconds(
    contenders: Mapping[Name, Callable[[], object]], repeats: int, *, warm_up: int = 1
) -> dict[Name, float]:
    """The fewest wall-clock seconds of each contender, called in turn: what the work takes when nobody
    else is at the machine. For figures that are compared with a computed bound, not with each other's
    usual times."""
    timed = {name: partial(seconds, function) for name, function in contenders.items()}
    return {name: min(found) for name, found in take_turns(timed, repeats, warm_up=warm_up).items()}


def paired_ratio(slow: Sequence[float], fast: Sequence[float]) -> float:
    """Median over repeats of slow ÷ fast within the same repeat."""
    return median(a / b for a, b in zip(slow, fast, strict=True))


def mean(values: Sequence[float]) -> float:
    """Arithmetic mean."""
    return sum(values) / len(values)


def percentile(values: Sequence[float], percent: int) -> float:
    """Nearest rank: the ⌈percent/100 · N⌉-th smallest."""
    return sorted(values)[-(-percent * len(values) // 100) - 1]
