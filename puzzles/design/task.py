"""The task as data, and its traffic drawn from a seed.

A seed is kept only when the task can be solved with it: the worked design reaches ``attain`` percent under
the task's own limits, and none of the baselines does, nor has a better goodput.
"""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from engine import InputError, Request, Service, skim
from engine.measuring.metrics import Summary
from engine.requests import count
from puzzles.design.fields import value_of
from puzzles.design.words import design_words

PLACE = Path(__file__).parent / "task.toml"
TRIES = 200
SLOTS = 100  # chances to arrive in one second: arrivals are whole hundredths
MOST_SEED = 2**31 - 1

Span = tuple[int, int]


class Kind(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A class of requests: its ``share`` in percent, and the spans of its lengths in tokens."""

    name: str
    share: int
    prompt: Span
    output: Span

    @property
    def letter(self) -> str:
        """Begins the ids of its requests."""
        return self.name[0].upper()

    @property
    def mean_prompt(self) -> float:
        return sum(self.prompt) / 2

    @property
    def mean_output(self) -> float:
        return sum(self.output) / 2


class Baseline(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A design to be beaten: the settings in which it differs from the plain service."""

    name: str
    settings: dict[str, str]


class Task(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``count`` requests come at ``rate`` per second. ``machine`` is given, everything else is designed."""

    count: int
    rate: int
    attain: int
    machine: dict[str, Any]
    limits: dict[str, str]
    classes: tuple[Kind, ...]
    baselines: tuple[Baseline, ...]
    worked: dict[str, str]
    seed: int = 0
    requests: tuple[Request, ...] = ()

    def service(self, settings: dict[str, Any]) -> Service:
        """The given machine with these settings."""
        return Service(**self.machine, **settings)

    def built(self, texts: dict[str, str]) -> Service:
        """The given machine with settings as they are typed."""
        return self.service({name: value_of(name, text) for name, text in texts.items()})

    def kind_of(self, request_id: str) -> Kind:
        """The class of a request."""
        return next(kind for kind in self.classes if request_id.startswith(kind.letter))


@lru_cache
def load_task() -> Task:
    """The task without traffic. Raises InputError when its file is wrong."""
    try:
        return msgspec.toml.decode(PLACE.read_bytes(), type=Task)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise InputError(f"{PLACE.name}: {error}") from None


@lru_cache(maxsize=256)
def task(seed: int = 0) -> Task:
    """The task with the traffic of ``seed``. Raises InputError for a seed that is none."""
    count(seed, "seed", least=0, most=MOST_SEED)
    source = Random(f"design:{seed}")
    for _ in range(TRIES):
        found = msgspec.structs.replace(load_task(), seed=seed, requests=traffic(load_task(), source))
        if teaches(found):
            return found
    raise InputError.of("no_traffic", at="design", words=design_words, seed=seed, tries=TRIES)


def teaches(found: Task) -> bool:
    """Whether the worked design does what is asked, no baseline does, and none has a better goodput."""
    wanted, best = found.attain / 100, measured(found, found.worked)
    if best.attainment is None or best.attainment < wanted:
        return False
    rivals = [measured(found, one.settings) for one in found.baselines]
    return all((one.attainment or 0) < wanted and (one.goodput or 0) < (best.goodput or 0) for one in rivals)


def measured(found: Task, texts: dict[str, str]) -> Summary:
    """A design under the task's own limits."""
    return skim(found.requests, found.built(texts)).summary(**found.limits)


# ---- drawing: only random() is the same in every Python, so only it is used -----------------------------


def traffic(plain: Task, source: Random) -> tuple[Request, ...]:
    """Requests in order of arrival: the shares are exact, who is long and when they come is chance."""
    kinds = [kind for kind in plain.classes for _ in range(plain.count * kind.share // 100)]
    _shuffle(kinds, source)
    return tuple(
        _request(kind, place, arrival, source)
        for place, (kind, arrival) in enumerate(zip(kinds, _arrivals(plain, source), strict=True), 1)
    )


def _request(kind: Kind, place: int, arrival: Decimal, source: Random) -> Request:
    name = f"{kind.letter}{place:03}"
    return Request(name, arrival, _pick(source, kind.prompt), _pick(source, kind.output))


def _arrivals(plain: Task, source: Random) -> list[Decimal]:
    """In each hundredth of a second somebody comes with the same chance, whatever came before."""
    found: list[Decimal] = []
    slot = 0
    while len(found) < plain.count:
        if source.random() * SLOTS < plain.rate:
            found.append(Decimal(slot) / SLOTS)
        slot += 1
    return found


def _pick(source: Random, span: Span) -> int:
    least, most = span
    return least + int(source.random() * (most - least + 1))


def _shuffle(items: list[Kind], source: Random) -> None:
    for last in range(len(items) - 1, 0, -1):
        other = _pick(source, (0, last))
        items[last], items[other] = items[other], items[last]
