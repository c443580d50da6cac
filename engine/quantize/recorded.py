"""The comparison as a committed file, for pages that must be the same on every machine."""

from __future__ import annotations

import datetime
import hashlib
import os
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import torch

from engine.model.weights import FOLDER, load_preset, write_atomically
from engine.quantize.compare import MAIN_FORMATS, Comparison, comparison
from engine.quantize.convert import quantize
from engine.quantize.exhibits import CacheMode, Smaller, cache_modes, smaller_rows
from engine.quantize.speed import DecodeSpeed, decode_speeds
from engine.serving.company import Invariance, invariances
from engine.traces import main_trace

RECORDED = Path(__file__).resolve().parent.parent / "recorded.json"
FORMATS = (*MAIN_FORMATS, "int4-gptq", "int4-awq")
DIGITS = 5
COMPANY = 3  # requests of the main trace that share ticks


class Settings(msgspec.Struct, frozen=True):
    """How the record was made.

    `weights` is the sha256 of the weight file, `held_out_bytes` how much held-out text was read
    (None: all of it). Numbers in the record are rounded to `digits` significant digits.
    """

    weights: str
    threads: int
    held_out_bytes: int | None
    digits: int


class Recorded(msgspec.Struct, frozen=True):
    """A comparison with when, where and how it was made.

    `speed`, and the milliseconds in `smaller`, are of that machine on that day and nothing that
    another machine should reproduce. `company` is R01–R03 of the main trace, each alone and
    together.
    """

    date: str
    processor: str
    torch: str
    settings: Settings
    comparison: Comparison
    speed: list[DecodeSpeed]
    smaller: list[Smaller]
    caches: list[CacheMode]
    company: list[Invariance]


def record(formats: Sequence[str] = FORMATS, held_out_bytes: int | None = None) -> Recorded:
    """Measure now, on this machine, numbers rounded to `DIGITS` significant digits."""
    model = load_preset("tiny")
    settings = Settings(weights_checksum(), torch.get_num_threads(), held_out_bytes, DIGITS)
    measured = Recorded(
        date=datetime.date.today().isoformat(),
        processor=processor(),
        torch=str(torch.__version__),
        settings=settings,
        comparison=comparison(formats=formats, held_out_bytes=held_out_bytes),
        speed=decode_speeds({name: quantize(model, name) for name in formats}),
        smaller=smaller_rows(model, held_out_bytes),
        caches=cache_modes(model),
        company=invariances(model, main_trace()[:COMPANY]),
    )
    return msgspec.convert(_rounded(msgspec.to_builtins(measured)), Recorded)


def save(recorded: Recorded, path: Path = RECORDED) -> None:
    """Write `recorded` as JSON that shows what changed when it is compared line by line."""
    write_atomically(path, msgspec.json.format(msgspec.json.encode(recorded), indent=1) + b"\n")


def load(path: Path = RECORDED) -> Recorded:
    """The committed record. Raises `FileNotFoundError`, or msgspec's `DecodeError` for another content."""
    return msgspec.json.decode(path.read_bytes(), type=Recorded)


def weights_checksum() -> str:
    """sha256, hex, of the trained weights: a record made with others is out of date."""
    return hashlib.sha256((FOLDER / "tiny.safetensors").read_bytes()).hexdigest()


def processor() -> str:
    """Architecture, cores and vector instructions, as in `x86_64, 2 cores, AVX-512`."""
    vectors = torch.backends.cpu.get_cpu_capability().replace("AVX512", "AVX-512")
    return f"{platform.machine()}, {os.cpu_count()} cores, {vectors}"


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, dict):
        return {key: _rounded(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_rounded(inner) for inner in value]
    return value
