"""A record as aligned text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from engine.quantize.compare import Comparison, FormatResult
from engine.quantize.kv_quality import KVResult
from engine.quantize.recorded import Recorded

FORMAT_HEADS = (
    "format",
    "linear bytes",
    "of fp32",
    "whole model",
    "of fp32",
    "worst weight",
    "worst output",
    "max |Δlogit|",
    "mean |Δlogit|",
    "mean KL",
    "changed",
    "nats/byte",
    "perplexity",
)
CACHE_HEADS = (
    "scale",
    "bytes",
    "of fp32",
    "keys",
    "values",
    "max |Δlogit|",
    "mean |Δlogit|",
    "mean KL",
    "same choice",
    "taken from",
)
LAYER_HEADS = ("layer", "shape", "stored as", "bytes", "weight error", "output error", "not quantized")


def show(recorded: Recorded, layers: str | None = None) -> str:
    """All tables of `recorded` as text; with `layers`, a format's name, that format's layers too."""
    compared, settings = recorded.comparison, recorded.settings
    made = f"{recorded.date}, {recorded.processor}, torch {recorded.torch}, {settings.threads} thread(s)"
    parts = [made, format_table(compared), _text_table(compared), _speed_table(recorded)]
    parts += [_struct_table(rows) for rows in (recorded.smaller, recorded.caches, recorded.company)]
    if layers is not None:
        parts.append(_layer_table(compared.of(layers)))
    return "\n\n".join(parts)


def aligned(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Columns as wide as their widest cell, numbers to the right, words to the left."""
    cells = [list(heads), *([_cell(value) for value in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(heads))]
    return "\n".join(
        "  ".join(_aligned(*pair) for pair in zip(row, widths, strict=True)).rstrip() for row in cells
    )


def _aligned(text: str, width: int) -> str:
    return text.rjust(width) if text[:1].isdigit() or text == "-" else text.ljust(width)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.1e}" if 0 < abs(value) < 5e-5 else f"{value:.4f}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "-" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def format_table(compared: Comparison) -> str:
    """One row per format: bytes, errors, differences of logits, loss."""
    return aligned(FORMAT_HEADS, (_format_row(result) for result in compared.formats))


def _format_row(result: FormatResult) -> tuple[object, ...]:
    forced, count = result.forced, len(result.forced)
    errors = [layer for layer in result.layers if layer.weight_error is not None]
    return (
        result.format,
        result.linear_bytes,
        result.linear_ratio,
        result.total_bytes,
        result.total_ratio,
        max((layer.weight_error or 0.0 for layer in errors), default=0.0),
        max((layer.output_error or 0.0 for layer in errors), default=0.0),
        max(token.largest for token in forced),
        sum(token.mean for token in forced) / count,
        sum(token.divergence for token in forced) / count,
        f"{sum(token.changed for token in forced)} of {count}",
        result.held_out.loss,
        result.held_out.perplexity,
    )


def cache_table(results: Sequence[KVResult]) -> str:
    """One row per scale mode of 8-bit keys and values."""
    return aligned(CACHE_HEADS, (_cache_row(result) for result in results))


def _cache_row(result: KVResult) -> tuple[object, ...]:
    count = len(result.tokens)
    return (
        result.mode,
        result.bytes,
        result.ratio,
        result.key_error,
        result.value_error,
        result.largest,
        sum(token.mean for token in result.tokens) / count,
        sum(token.divergence for token in result.tokens) / count,
        result.agreement,
        result.source,
    )


def _text_table(compared: Comparison) -> str:
    return aligned(("request", "prompt", "format", "writes", "first difference"), _text_rows(compared))


def _text_rows(compared: Comparison) -> Iterator[tuple[object, ...]]:
    for place, prompt in enumerate(compared.prompts):
        for result in compared.formats:
            free = result.prompts[place].free
            yield prompt.id, repr(prompt.prompt), result.format, repr(free.text), free.first_difference


def _speed_table(recorded: Recorded) -> str:
    rows = ((speed.format, speed.rows, speed.context, speed.milliseconds) for speed in recorded.speed)
    return aligned(("format", "rows", "context", "ms per step"), rows)


def _struct_table(rows: Sequence[msgspec.Struct]) -> str:
    """A column per field, called as it is."""
    found = [msgspec.structs.asdict(row) for row in rows]
    return aligned(list(found[0]), (list(row.values()) for row in found)) if found else ""


def _layer_table(result: FormatResult) -> str:
    rows = (
        (
            layer.part.name or "(model)",
            " × ".join(map(str, layer.part.shape)),
            layer.part.format,
            layer.part.bytes,
            layer.weight_error,
            layer.output_error,
            layer.part.reason or "",
        )
        for layer in result.layers
    )
    return aligned(LAYER_HEADS, rows)
