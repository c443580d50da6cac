"""All sections: their order, their results as one value."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import msgspec
import torch

from engine.bench import (
    attention,
    bandwidth,
    fusion,
    huggingface,
    invariance,
    kv_cache,
    memory,
    neighbour,
    phases,
    prefix,
    serving,
    speculation,
    tick,
)
from engine.bench.attention import Attend
from engine.bench.bandwidth import Bandwidth
from engine.bench.fusion import Chain
from engine.bench.huggingface import HuggingFace
from engine.bench.kv_cache import Step
from engine.bench.memory import Memory
from engine.bench.neighbour import Neighbour
from engine.bench.phases import Phases
from engine.bench.prefix import Prefix
from engine.bench.serving import Serving
from engine.bench.setting import Setting
from engine.bench.speculation import Rounds
from engine.bench.tick import Tick
from engine.serving.company import Invariance
from engine.words import Catalogue


class Section(Protocol):
    """What the modules of ``SECTIONS`` offer."""

    NAME: str

    def measure(self, setting: Setting) -> Any: ...
    def tell(self, result: Any, words: Catalogue) -> str: ...


# memory first: the peak of a process never comes down again
_MODULES: tuple[Any, ...] = (
    memory,
    serving,
    huggingface,
    tick,
    bandwidth,
    kv_cache,
    speculation,
    prefix,
    invariance,
    phases,
    attention,
    fusion,
    neighbour,
)
SECTIONS: dict[str, Section] = {module.NAME: module for module in _MODULES}


class Machine(msgspec.Struct, frozen=True):
    """Where and when: the processor, its vector instructions as torch uses them, versions, threads."""

    date: str
    processor: str
    vector: str
    python: str
    torch: str
    threads: int


class Bench(msgspec.Struct, frozen=True, kw_only=True):
    """The results by section; None for one that was not asked for."""

    machine: Machine
    quick: bool
    repeats: int
    memory: Memory | None = None
    serving: Serving | None = None
    huggingface: HuggingFace | None = None
    tick: tuple[Tick, ...] | None = None
    bandwidth: Bandwidth | None = None
    kv_cache: tuple[Step, ...] | None = None
    speculation: tuple[Rounds, ...] | None = None
    prefix: tuple[Prefix, ...] | None = None
    invariance: tuple[Invariance, ...] | None = None
    phases: Phases | None = None
    attention: tuple[Attend, ...] | None = None
    fusion: tuple[Chain, ...] | None = None
    neighbour: tuple[Neighbour, ...] | None = None


def bench(setting: Setting, names: Sequence[str] = (), say: Callable[[str], object] = print) -> Bench:
    """Measure the sections ``names`` (all when empty) and ``say`` each as text when it is done."""
    machine = this_machine()
    say(setting.words("bench.machine", **msgspec.structs.asdict(machine)))
    results = {}
    for name in names or SECTIONS:
        results[name] = SECTIONS[name].measure(setting)
        say("\n" + SECTIONS[name].tell(results[name], setting.words))
    return Bench(machine=machine, quick=setting.quick, repeats=setting.repeats, **results)


def this_machine() -> Machine:
    """The machine this process runs on, now."""
    return Machine(
        datetime.now(UTC).isoformat(timespec="minutes"),
        _processor(),
        torch.backends.cpu.get_cpu_capability(),
        platform.python_version(),
        str(torch.__version__),
        torch.get_num_threads(),
    )


def _processor() -> str:
    """The processor's name as the system tells it."""
    table = Path("/proc/cpuinfo")
    lines = table.read_text().splitlines() if table.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
