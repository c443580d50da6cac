"""Streams of requests for load tests: when they arrive, how long they are, from a seed.

    stream(poisson(8), SHORT_AND_LONG, count=100, seed=1)

An *arrival process* is a function of a random generator that yields moments without end, in whole
milliseconds, so that every arrival is an exact decimal. A *mix* says which kinds of requests there
are and in which shares. Arrivals, kinds and lengths are drawn apart: under one seed, two mixes meet
the same arrivals, and two arrival processes bring the same requests in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from itertools import islice, takewhile
from math import inf
from random import Random

import msgspec

from engine.errors import InputError
from engine.prompts import prompts_for
from engine.requests import Request, count
from engine.words import Phrase

MILLISECONDS = 1000
Moments = Callable[[Random], Iterator[float]]


class Arrivals(msgspec.Struct, frozen=True):
    """When requests come: ``moments`` yields milliseconds, never decreasing, without end.

    ``rate`` is the mean number of requests per second in the long run.
    """

    name: str
    rate: float
    moments: Moments


class Kind(msgspec.Struct, frozen=True):
    """One kind of request: its weight in the mix, and the range of its lengths in tokens.

    Lengths are drawn evenly from lowest to highest, both included. Raises InputError for a weight
    that is not above 0, a length below 1, or a range that runs backwards.
    """

    name: str
    weight: float
    prompt_tokens: tuple[int, int]
    output_tokens: tuple[int, int]

    def __post_init__(self) -> None:
        where = Phrase("place.kind", name=self.name)
        if not 0 < self.weight < inf:
            raise InputError.of("not_positive", at=(where, "weight"), value=repr(self.weight))
        for field in ("prompt_tokens", "output_tokens"):
            low, high = getattr(self, field)
            count(low, (where, field))
            count(high, (where, field), least=low)


SHORT_AND_LONG = (
    Kind("short", 80, (8, 32), (4, 16)),
    Kind("long", 20, (96, 160), (32, 64)),
)
"""80 % short requests and 20 % long ones: the mix of the course project."""


# ---- arrivals ----------------------------------------------------------------------------------


def poisson(rate: float) -> Arrivals:
    """Independent arrivals, ``rate`` per second: gaps are exponential. Raises InputError unless above 0."""
    per_second = _positive(rate, "rate")
    return Arrivals("poisson", per_second, lambda random: _poisson(random, per_second))


def bursty(rate: float, burst: int) -> Arrivals:
    """``burst`` requests at once; the bursts are Poisson, so that ``rate`` requests come per second.

    Raises InputError for a rate that is not above 0 or a burst below 1.
    """
    per_second, size = _positive(rate, "rate"), count(burst, "burst")

    def moments(random: Random) -> Iterator[float]:
        for moment in _poisson(random, per_second / size):
            yield from [moment] * size

    return Arrivals("bursty", per_second, moments)


def on_off(rate: float, on: float, off: float) -> Arrivals:
    """Poisson with ``rate`` per second for ``on`` seconds, then silence for ``off`` seconds, and again.

    The rate in the long run is rate · on / (on + off). Raises InputError for a number not above 0.
    """
    per_second = _positive(rate, "rate")
    loud, silent = (_positive(length, name) for name, length in (("on", on), ("off", off)))

    def moments(random: Random) -> Iterator[float]:
        for moment in _poisson(random, per_second):
            periods = moment // (loud * MILLISECONDS)
            yield moment + periods * silent * MILLISECONDS

    return Arrivals("on_off", per_second * loud / (loud + silent), moments)


def _poisson(random: Random, per_second: float) -> Iterator[float]:
    moment = 0.0
    while True:
        moment += random.expovariate(per_second) * MILLISECONDS
        yield moment


def _positive(value: float, name: str) -> float:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 < value < inf:
        raise InputError.of("not_positive", at=name, value=repr(value))
    return float(value)


# ---- requests ----------------------------------------------------------------------------------


def stream(
    arrivals: Arrivals,
    mix: Sequence[Kind] = SHORT_AND_LONG,
    *,
    count: int | None = None,
    horizon: float | None = None,
    seed: int = 0,
    prompts: bool = False,
) -> list[Request]:
    """Requests in order of arrival: ``count`` of them, or all that arrive before ``horizon`` (s).

    The shares of the mix hold exactly, up to rounding to whole requests. Ids are R01, R02 …;
    with ``prompts`` each request has a text of its length, for the torch engine. Raises
    InputError for an empty mix, and unless exactly one of ``count`` and ``horizon`` is given.
    """
    moments = _moments(arrivals, count, horizon, seed)
    kinds = _kinds(mix, len(moments), Random(f"{seed}:kinds"))
    lengths = Random(f"{seed}:lengths")
    digits = max(2, len(str(len(moments))))
    found = [
        Request(f"R{place:0{digits}}", moment, *_lengths(kind, lengths))
        for place, (moment, kind) in enumerate(zip(moments, kinds, strict=True), 1)
    ]
    return prompts_for(found, seed) if prompts else found


def _moments(arrivals: Arrivals, number: int | None, horizon: float | None, seed: int) -> list[Decimal]:
    """The arrivals asked for, exact decimals in seconds with three places."""
    if (number is None) == (horizon is None):
        raise InputError.of("count_or_horizon", at="stream")
    rounded = map(int, arrivals.moments(Random(f"{seed}:arrivals")))
    if number is not None:
        found = list(islice(rounded, count(number, "count")))
    elif horizon is not None:
        end = _positive(horizon, "horizon") * MILLISECONDS
        found = list(takewhile(lambda moment: moment < end, rounded))
    return [Decimal(moment).scaleb(-3) for moment in found]


def _kinds(mix: Sequence[Kind], number: int, random: Random) -> list[Kind]:
    """``number`` kinds in random order, shared out by largest remainder."""
    if not mix:
        raise InputError.of("no_kinds", at="mix")
    total = sum(kind.weight for kind in mix)
    exact = [number * kind.weight / total for kind in mix]
    whole = [int(share) for share in exact]
    by_remainder = sorted(range(len(mix)), key=lambda place: whole[place] - exact[place])
    for place in by_remainder[: number - sum(whole)]:
        whole[place] += 1
    kinds = [kind for kind, times in zip(mix, whole, strict=True) for _ in range(times)]
    random.shuffle(kinds)
    return kinds


def _lengths(kind: Kind, random: Random) -> tuple[int, int]:
    """Prompt and output tokens of one request."""
    return random.randint(*kind.prompt_tokens), random.randint(*kind.output_tokens)
