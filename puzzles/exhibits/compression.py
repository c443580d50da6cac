"""Exhibits about fewer bytes: weight formats, KV in 8 bits, pruned and distilled models, and what fits."""

from __future__ import annotations

from fractions import Fraction

from engine.words import Catalogue
from puzzles.calculator import MODELS
from puzzles.exhibits.model import Exhibit
from puzzles.measured import measured, measured_on
from puzzles.quantization import (
    CacheMode,
    Sheet,
    Smaller,
    formats_sheet,
    layers_sheet,
    made,
    record,
    speed_sheet,
)
from puzzles.weights_calculator import BITS, SIZES, parameters, weight_bytes

GIGA = 10**9


# ---- weights in fewer bits -------------------------------------------------------------------------


def formats(words: Catalogue) -> Exhibit:
    """Bytes, errors, Δlogit, changed tokens, loss and speed of every weight format."""
    found = record()
    return Exhibit(
        sheets=(formats_sheet(found, words), speed_sheet(found, words)),
        points=(words("exhibit.formats.point"),),
        notes=(made(found, words),),
        answers=True,
    )


def layers(words: Catalogue) -> Exhibit:
    """The error of every layer in every weight format."""
    found = record()
    sheets = (layers_sheet(found, words),)
    return Exhibit(sheets=sheets, notes=(made(found, words),), answers=True)


def large(words: Catalogue) -> Exhibit:
    """Speed of the formats on a model whose weights do not fit into the cache."""
    found = measured().bandwidth
    names = ("format", "decodes", "bytes", "ms", "rate", "speedup")
    heads = tuple(words(f"exhibit.large.{name}") for name in names)
    rows = tuple(
        (
            row.format,
            str(row.rows),
            f"{row.weight_bytes / 1e6:,.0f}",
            f"{1000 * row.seconds:.1f}",
            f"{row.tokens_per_second:.1f}",
            f"{row.speedup:.2f} ×",
        )
        for row in found.rows
    )
    best = max(found.rows, key=lambda row: row.speedup)
    point = words(
        "exhibit.large.point",
        parameters=f"{found.parameters / 1e6:.0f}",
        format=best.format,
        speedup=f"{best.speedup:.1f}",
    )
    sheet = Sheet(words("exhibit.large.title"), heads, rows)
    return Exhibit(sheets=(sheet,), points=(point,), notes=(measured_on(words, median=True),), answers=True)


# ---- keys and values in 8 bits ---------------------------------------------------------------------


def caches(words: Catalogue) -> Exhibit:
    """8-bit keys and values by where the scale comes from."""
    found = record()
    names = ("mode", "ratio", "keys", "values", "largest", "mean", "changed")
    heads = tuple(words(f"exhibit.caches.{name}") for name in names)
    rows = tuple(_cache_row(one, words) for one in found.caches)
    by_mode = {one.mode: one for one in found.caches}
    blanks = {
        f"{mode}_{name}": f"{getattr(by_mode[mode], field):.{digits}f}"
        for mode in ("tensor", "channel")
        for name, field, digits in (("logit", "largest", 2), ("keys", "key_error", 4))
    }
    return Exhibit(
        sheets=(Sheet(words("exhibit.caches.title"), heads, rows),),
        points=(words("exhibit.caches.point", **blanks),),
        notes=(made(found, words),),
        answers=True,
    )


def _cache_row(one: CacheMode, words: Catalogue) -> tuple[str, ...]:
    return (
        words(f"exhibit.caches.{one.mode}"),
        f"{100 * one.ratio:.1f} %",
        f"{one.key_error:.4f}",
        f"{one.value_error:.4f}",
        f"{one.largest:.3f}",
        f"{one.mean:.3f}",
        words("quantization.of", part=one.changed, whole=one.tokens),
    )


# ---- fewer weights ---------------------------------------------------------------------------------


def smaller(words: Catalogue) -> Exhibit:
    """Pruning and distillation beside the model itself."""
    found = record()
    names = ("name", "zeros", "bytes", "sparse", "largest", "changed", "loss", "ms")
    heads = tuple(words(f"exhibit.smaller.{name}") for name in names)
    rows = tuple(_smaller_row(one, words) for one in found.smaller)
    by_name = {one.name: one for one in found.smaller}
    blanks = {
        "student": f"{by_name['student'].loss:.3f}",
        "pruned": f"{by_name['units-50'].loss:.3f}",
        "original": f"{by_name['original'].loss:.3f}",
        "bytes": f"{100 * by_name['student'].total_bytes / by_name['original'].total_bytes:.0f}",
        "speed": f"{by_name['original'].milliseconds / by_name['student'].milliseconds:.1f}",
    }
    return Exhibit(
        sheets=(Sheet(words("exhibit.smaller.title"), heads, rows),),
        points=(words("exhibit.smaller.point", **blanks),),
        notes=(made(found, words),),
    )


def _smaller_row(one: Smaller, words: Catalogue) -> tuple[str, ...]:
    return (
        words(f"exhibit.smaller.{one.name}"),
        f"{100 * one.zeros:.0f} %",
        f"{one.total_bytes:,}",
        f"{one.sparse_bytes:,}",
        f"{one.largest:.2f}",
        words("quantization.of", part=one.changed, whole=one.tokens),
        f"{one.loss:.3f}",
        f"{one.milliseconds:.2f}",
    )


# ---- what fits -------------------------------------------------------------------------------------


def weights(words: Catalogue) -> Exhibit:
    """A row per named model: parameters from its shape, and its weights in three formats."""
    heads = (
        words("exhibit.kv.model"),
        words("exhibit.weights.parameters"),
        words("exhibit.weights.stated"),
        *(words("exhibit.weights.format", format=format) for format in BITS),
    )
    rows = tuple(
        (
            words(f"given.{name}"),
            f"{parameters(name) / GIGA:.2f}",
            size.stated,
            *(_giga(weight_bytes(name, format)) for format in BITS),
        )
        for name, size in SIZES.items()
    )
    sheet = Sheet(words("exhibit.weights.title"), heads, rows)
    return Exhibit(sheets=(sheet,), notes=(words("exhibit.weights.source"),))


def _giga(value: Fraction | int) -> str:
    return f"{float(value) / GIGA:.1f} GB"


MODEL, CARD, SPARE, LENGTH = "qwen3_14b", 16 * GIGA, 2 * GIGA, 2048
KV_BYTES = {"fp16": 2, "int8": 1}


def fourteen(words: Catalogue) -> Exhibit:
    """Weights in three formats and KV in two: what is left for KV, and how many requests that holds."""
    names = ("weights", "kv", "size", "left", "tokens", "requests", "decision")
    heads = tuple(words(f"exhibit.fourteen.{name}") for name in names)
    rows = tuple(_decision(format, kv, words) for format in BITS for kv in KV_BYTES)
    point = words(
        "exhibit.fourteen.point",
        fp16=_giga(weight_bytes(MODEL, "fp16")),
        int8=_giga(weight_bytes(MODEL, "int8")),
        int4=_giga(weight_bytes(MODEL, "int4")),
        requests=room("int4", "fp16") // LENGTH,
        more=room("int4", "int8") // LENGTH,
    )
    sheet = Sheet(words("exhibit.fourteen.title"), heads, rows, labels=2)
    return Exhibit(sheets=(sheet,), points=(point,), notes=(words("exhibit.weights.source"),), answers=True)


def left(format: str) -> Fraction:
    """Bytes that the card has for KV beside the weights; below 0 when not even they fit."""
    return CARD - SPARE - weight_bytes(MODEL, format)


def room(format: str, kv: str) -> int:
    """Tokens whose KV fits."""
    token = MODELS[MODEL].per_token * KV_BYTES[kv] // 2
    return max(0, int(left(format) // token))


def _decision(format: str, kv: str, words: Catalogue) -> tuple[str, ...]:
    tokens = room(format, kv)
    fits = "yes" if tokens >= LENGTH else "no"
    return (
        format,
        kv,
        _giga(weight_bytes(MODEL, format)),
        _giga(left(format)).replace("-", "−"),
        f"{tokens:,}",
        str(tokens // LENGTH),
        words(f"exhibit.fourteen.{fits}"),
    )
