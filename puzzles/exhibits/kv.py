"""Exhibits about KV: what a token takes in named models, and what keeping it saves."""

from __future__ import annotations

from engine.words import Catalogue
from puzzles.calculator import MODELS
from puzzles.charts import Axis, Chart, Point, Series, steps
from puzzles.exhibits.model import Exhibit
from puzzles.measured import Step, measured, measured_on
from puzzles.quantization import Sheet
from puzzles.words import DASH

CONTEXT = 2048  # tokens
MIB = 2**20
PRINTED = (16, 64, 128, 256, 384, 512)


def kv(words: Catalogue) -> Exhibit:
    """A row per named model: its shape, the bytes of one token, and of a context."""
    heads = [words(f"figure.{name}") for name in ("layers", "kv_heads", "head_dim", "per_token")]
    rows = tuple(
        (
            words(f"given.{name}"),
            str(shape.layers),
            str(shape.kv_heads) if shape.latent is None else f"MLA {shape.latent}",
            str(shape.head_dim) if shape.latent is None else DASH,
            f"{shape.per_token:,}",
            f"{shape.of(CONTEXT) / MIB:,.1f} MiB",
        )
        for name, shape in MODELS.items()
    )
    heads = [words("exhibit.kv.model"), *heads, words("exhibit.kv.context", tokens=CONTEXT)]
    sheet = Sheet(words("exhibit.kv.title"), tuple(heads), rows)
    return Exhibit(sheets=(sheet,), notes=(words("exhibit.kv.source"),), answers=True)


def cache_on_off(words: Catalogue) -> Exhibit:
    """Work and time of one more token, over the length of the text, with the cache and without."""
    found = measured().kv_cache
    names = ("length", "flops_on", "flops_off", "flops_times", "ms_on", "ms_off", "ms_times")
    heads = tuple(words(f"exhibit.cache.{name}") for name in names)
    rows = tuple(_row(step) for step in found if step.length in PRINTED)
    last = found[-1]
    point = words(
        "exhibit.cache.point",
        length=last.length,
        flops=f"{last.recomputed_flops / last.cached_flops:.0f}",
        ms=f"{last.recomputed_seconds / last.cached_seconds:.0f}",
    )
    return Exhibit(
        charts=(_chart(found, words),),
        sheets=(Sheet(words("exhibit.cache.title"), heads, rows),),
        points=(point,),
        notes=(measured_on(words),),
    )


def _row(step: Step) -> tuple[str, ...]:
    return (
        str(step.length),
        f"{step.cached_flops / 1e6:,.2f}",
        f"{step.recomputed_flops / 1e6:,.1f}",
        f"{step.recomputed_flops / step.cached_flops:.0f} ×",
        f"{1000 * step.cached_seconds:.2f}",
        f"{1000 * step.recomputed_seconds:.2f}",
        f"{step.recomputed_seconds / step.cached_seconds:.1f} ×",
    )


def _chart(found: tuple[Step, ...], words: Catalogue) -> Chart:
    ticks = steps([1000 * step.recomputed_seconds for step in found])
    ways = {"off": "recomputed_seconds", "on": "cached_seconds"}
    return Chart(
        "cache",
        words("exhibit.cache.title"),
        words("exhibit.cache.picture"),
        Axis("token", 0, 512, (0, 128, 256, 384, 512)),
        Axis("ms", 0, ticks[-1], ticks),
        tuple(
            Series(
                words(f"exhibit.cache.{way}"),
                tuple(Point(step.length, round(1000 * getattr(step, field), 3)) for step in found),
            )
            for way, field in ways.items()
        ),
    )
