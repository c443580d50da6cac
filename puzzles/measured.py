"""The benchmark's committed figures, read without torch: what the exhibits about speed print.

``python -m engine bench --section … --json engine/measured.json`` writes the file; what is measured and
how is said in engine/bench.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec

import engine
from engine import InputError
from engine.words import Catalogue

PLACE = Path(engine.__file__).parent / "measured.json"
SECTIONS = ("phases", "attention", "fusion", "neighbour", "kv_cache", "bandwidth", "speculation")


class Machine(msgspec.Struct, frozen=True):
    """When and where."""

    date: str
    processor: str
    vector: str
    torch: str
    threads: int


class Peaks(msgspec.Struct, frozen=True):
    """Operations per second; bytes per second from memory and from the cache."""

    flops: float
    memory: float
    cache: float


class Tick(msgspec.Struct, frozen=True):
    """The forward of one tick of ``count`` decodes, or of a prompt of ``count`` tokens."""

    model: str
    phase: str
    count: int
    flops: int
    weight_bytes: int
    kv_bytes: int
    seconds: float

    @property
    def bytes(self) -> int:
        """All bytes that the tick needs from memory."""
        return self.weight_bytes + self.kv_bytes

    @property
    def intensity(self) -> float:
        """Operations per byte."""
        return self.flops / self.bytes

    @property
    def rate(self) -> float:
        """Operations per second."""
        return self.flops / self.seconds


class Phases(msgspec.Struct, frozen=True):
    """The roof and the ticks under it."""

    peaks: Peaks
    ticks: tuple[Tick, ...]


class Attend(msgspec.Struct, frozen=True):
    """Attention over ``length`` tokens, one way: bytes moved (computed), extra bytes (measured), seconds."""

    length: int
    way: str
    moved: int | None
    extra: int | None
    seconds: float
    difference: float


class Chain(msgspec.Struct, frozen=True):
    """A chain of operations, fused or not."""

    chain: str
    fused: bool
    rows: int
    width: int
    moved: int
    extra: int
    seconds: float
    difference: float


class Moment(msgspec.Struct, frozen=True):
    """A tick: prompt tokens, decodes, seconds."""

    prefill: int
    decodes: int
    seconds: float


class Neighbour(msgspec.Struct, frozen=True):
    """Three requests decode while a fourth comes with a long prompt, served one way."""

    way: str
    ticks: tuple[Moment, ...]
    gap: float
    first: float | None


class Step(msgspec.Struct, frozen=True):
    """A decode step at ``length`` tokens with the KV cache and without."""

    length: int
    cached_flops: int
    recomputed_flops: int
    cached_seconds: float
    recomputed_seconds: float


class Decode(msgspec.Struct, frozen=True):
    """A decode step of ``rows`` requests on the large model in one weight format."""

    format: str
    rows: int
    seconds: float
    weight_bytes: int
    tokens_per_second: float
    speedup: float


class Bandwidth(msgspec.Struct, frozen=True):
    """The large model's size and its steps."""

    parameters: int
    rows: tuple[Decode, ...]


class Rounds(msgspec.Struct, frozen=True):
    """One load with ``k`` guesses per step (0: none) from a draft."""

    load: str
    draft: str
    k: int
    accepted_at: tuple[float, ...]
    tokens_per_round: float | None
    speedup: float
    equal: bool


class Measured(msgspec.Struct, frozen=True):
    """Every section that the exhibits use, with the machine and how often each thing was timed."""

    machine: Machine
    repeats: int
    phases: Phases
    attention: tuple[Attend, ...]
    fusion: tuple[Chain, ...]
    neighbour: tuple[Neighbour, ...]
    kv_cache: tuple[Step, ...]
    bandwidth: Bandwidth
    speculation: tuple[Rounds, ...]


@cache
def measured(place: Path = PLACE) -> Measured:
    """The committed figures. Raises InputError, one sentence, when they are missing or no such figures."""
    if not place.is_file():
        raise InputError(f"{place.name} is missing: python -m engine bench --json {place.name} writes it")
    try:
        return msgspec.json.decode(place.read_bytes(), type=Measured)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise InputError(f"{place.name}: {error}") from None


def measured_on(words: Catalogue, *, median: bool = False) -> str:
    """When, where and how, in a sentence: the fastest of the repeats, or their ``median``."""
    found = measured()
    machine = msgspec.structs.asdict(found.machine) | {"date": found.machine.date[:10]}
    key = "exhibit.measured.median" if median else "exhibit.measured"
    return words(key, repeats=found.repeats, **machine)
