"""The engine's committed record of quantized runs, as tables in words. No torch: the record is a file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

import engine
from engine import InputError
from engine.words import Catalogue
from puzzles.words import DASH

PLACE = Path(engine.__file__).parent / "recorded.json"


# ---- what is read of the record: the rest of the file is not needed here ---------------------------


class Token(msgspec.Struct, frozen=True):
    """One step along fp32's tokens: fp32's token, the format's choice, largest and mean |Δlogit|."""

    token: int
    chosen: int
    largest: float
    mean: float


class FreeText(msgspec.Struct, frozen=True):
    """What a format wrote by itself, and where it first left fp32 (None: nowhere)."""

    text: str
    first_difference: int | None


class PromptResult(msgspec.Struct, frozen=True):
    """One request under one format."""

    id: str
    forced: list[Token]
    free: FreeText


class Part(msgspec.Struct, frozen=True):
    """A part of the model by name."""

    name: str


class Layer(msgspec.Struct, frozen=True):
    """A part of the model; errors are None where nothing was quantized."""

    part: Part
    weight_error: float | None
    output_error: float | None


class HeldOut(msgspec.Struct, frozen=True):
    """Loss in nats per byte on text that no training step saw."""

    loss: float
    scored: int


class Format(msgspec.Struct, frozen=True):
    """One weight format: bytes with scales, shares of fp32, errors, results per request."""

    format: str
    linear_bytes: int
    linear_ratio: float
    total_ratio: float
    layers: list[Layer]
    prompts: list[PromptResult]
    held_out: HeldOut


class Prompt(msgspec.Struct, frozen=True):
    """One request and what fp32 writes for it."""

    id: str
    prompt: str
    text: str


class Comparison(msgspec.Struct, frozen=True):
    """The formats side by side."""

    prompts: list[Prompt]
    formats: list[Format]


class Settings(msgspec.Struct, frozen=True):
    """How the record was made; ``weights`` is a checksum."""

    weights: str
    threads: int


class Speed(msgspec.Struct, frozen=True):
    """Milliseconds of a decode step with ``rows`` sequences."""

    format: str
    rows: int
    context: int
    milliseconds: float


class Smaller(msgspec.Struct, frozen=True):
    """A pruned or distilled model beside the original: share of zeros, bytes, Δlogit, loss, ms per step."""

    name: str
    zeros: float
    total_bytes: int
    sparse_bytes: int
    largest: float
    changed: int
    tokens: int
    loss: float
    milliseconds: float


class CacheMode(msgspec.Struct, frozen=True):
    """8-bit keys and values with the scale from ``mode``: share of fp32's bytes, errors, Δlogit."""

    mode: str
    ratio: float
    key_error: float
    value_error: float
    largest: float
    mean: float
    changed: int
    tokens: int


class Shared(msgspec.Struct, frozen=True):
    """One request alone against in company: ``first`` token whose logits differ in any bit, largest |Δlogit|,
    the least lead of a chosen token."""

    mode: str
    id: str
    first: int | None
    difference: float
    margin: float
    same_tokens: bool


class Recorded(msgspec.Struct, frozen=True):
    """The record: when, where and with which settings, the comparison, and the speed on that day; then other
    ways to be smaller, 8-bit KV, and requests alone and in company."""

    date: str
    processor: str
    torch: str
    settings: Settings
    comparison: Comparison
    speed: list[Speed]
    smaller: list[Smaller] = []
    caches: list[CacheMode] = []
    company: list[Shared] = []


def read(place: Path = PLACE) -> Recorded | None:
    """The committed record; None when there is none yet. Raises InputError when it is no record."""
    if not place.is_file():
        return None
    try:
        return msgspec.json.decode(place.read_bytes(), type=Recorded)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise InputError(f"{place.name}: {error}") from None


def record() -> Recorded:
    """The committed record. Raises InputError when there is none."""
    found = read()
    if found is None:
        raise InputError(f"{PLACE.name} is missing: python -m engine.quantize record writes it")
    return found


# ---- tables ---------------------------------------------------------------------------------------


class Sheet(msgspec.Struct, frozen=True):
    """A table of finished texts; the first of each row heads it.

    The first ``labels`` of a row are kept on one line; ``numbers``: those after them are numbers.
    """

    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: bool = True
    labels: int = 1


def made(recorded: Recorded, words: Catalogue) -> str:
    """When, where and with which settings."""
    return words(
        "quantization.made",
        date=recorded.date,
        processor=recorded.processor,
        torch=recorded.torch,
        threads=recorded.settings.threads,
        weights=recorded.settings.weights[:12],
        held_out=f"{recorded.comparison.formats[0].held_out.scored:,}",
    )


COLUMNS = ("format", "bytes", "ratio", "total", "weight", "output", "largest", "mean", "changed", "loss")


def formats_sheet(recorded: Recorded, words: Catalogue) -> Sheet:
    """A line per format: bytes, errors, tokens changed, loss."""
    heads = tuple(words(f"quantization.{name}") for name in COLUMNS)
    rows = tuple(_format_row(one, words) for one in recorded.comparison.formats)
    return Sheet(words("quantization.formats"), heads, rows)


def _format_row(one: Format, words: Catalogue) -> tuple[str, ...]:
    forced = [token for prompt in one.prompts for token in prompt.forced]
    changed = sum(token.token != token.chosen for token in forced)
    return (
        one.format,
        f"{one.linear_bytes:,}",
        f"{one.linear_ratio:.3f}",
        f"{one.total_ratio:.3f}",
        worst(layer.weight_error for layer in one.layers),
        worst(layer.output_error for layer in one.layers),
        f"{max(token.largest for token in forced):.3f}",
        f"{sum(token.mean for token in forced) / len(forced):.3f}",
        words("quantization.of", part=changed, whole=len(forced)),
        f"{one.held_out.loss:.3f}",
    )


def worst(errors: Iterable[float | None]) -> str:
    """The largest error that exists."""
    known = [error for error in errors if error is not None]
    return f"{max(known):.4f}" if known else DASH


def texts_sheet(recorded: Recorded, words: Catalogue) -> Sheet:
    """What each format writes by itself, and where it leaves fp32."""
    heads = tuple(words(f"quantization.{name}") for name in ("prompt", "format", "text", "first"))
    rows = tuple(
        (prompt.id, one.format, one.prompts[place].free.text, _first(one.prompts[place].free, words))
        for place, prompt in enumerate(recorded.comparison.prompts)
        for one in recorded.comparison.formats
    )
    return Sheet(words("quantization.texts"), heads, rows, numbers=False)


def _first(free: FreeText, words: Catalogue) -> str:
    if free.first_difference is None:
        return words("quantization.same")
    return words("quantization.differs", place=free.first_difference + 1)


def layers_sheet(recorded: Recorded, words: Catalogue) -> Sheet:
    """A line per quantized layer: weight error and output error under each format."""
    formats = [one for one in recorded.comparison.formats if _quantized(one)]
    errors = (words("quantization.weight"), words("quantization.output"))
    heads = (words("quantization.layer"), *(f"{one.format} {error}" for one in formats for error in errors))
    names = [layer.part.name for layer in _quantized(formats[0])] if formats else []
    return Sheet(words("quantization.layers"), heads, tuple(_layer_row(name, formats) for name in names))


def _quantized(one: Format) -> list[Layer]:
    return [layer for layer in one.layers if layer.weight_error is not None]


def _layer_row(name: str, formats: list[Format]) -> tuple[str, ...]:
    found = [next(layer for layer in one.layers if layer.part.name == name) for one in formats]
    errors = (error for layer in found for error in (layer.weight_error, layer.output_error))
    return (name, *(DASH if error is None else f"{error:.4f}" for error in errors))


def speed_sheet(recorded: Recorded, words: Catalogue) -> Sheet:
    """Milliseconds of one decode step by format and sequences in it."""
    formats = list(dict.fromkeys(one.format for one in recorded.speed))
    heads = (words("quantization.rows"), *formats)
    found = {(one.format, one.rows): one for one in recorded.speed}
    counts = list(dict.fromkeys(one.rows for one in recorded.speed))
    rows = tuple((str(n), *(_speed(found.get((name, n))) for name in formats)) for n in counts)
    context = recorded.speed[0].context if recorded.speed else 0
    return Sheet(words("quantization.speed", context=context), heads, rows)


def _speed(one: Speed | None) -> str:
    return DASH if one is None else f"{one.milliseconds:.2f}"
