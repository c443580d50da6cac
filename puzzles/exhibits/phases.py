"""Exhibits about compute and memory: the roof over prefill and decode, attention in tiles, fused chains."""

from __future__ import annotations

from engine.words import Catalogue
from puzzles.charts import Axis, Chart, Point, Series, powers
from puzzles.exhibits.model import Exhibit
from puzzles.measured import Attend, Peaks, Phases, Tick, measured, measured_on
from puzzles.quantization import Sheet
from puzzles.words import DASH

GIGA, MEGA = 1e9, 1e6
LEAST, MOST = 0.25, 256  # FLOP per byte
FLOOR, CEILING = 1, 1024  # GFLOP/s

# ---- the roof --------------------------------------------------------------------------------------


def roofline(words: Catalogue) -> Exhibit:
    """Ticks of both models under the roof of the machine that ran them."""
    found = measured().phases
    peaks = found.peaks
    names = ("model", "phase", "tokens", "flops", "bytes", "intensity", "ms", "rate", "share")
    heads = tuple(words(f"exhibit.roofline.{name}") for name in names)
    rows = tuple(_tick_row(tick, peaks, words) for tick in found.ticks)
    one, many = (_tick(found, "large", "decode", count) for count in (1, 16))
    point = words(
        "exhibit.roofline.point",
        one=f"{one.intensity:.2f}",
        many=f"{many.intensity:.1f}",
        rate_one=_rate(one.rate),
        rate_many=_rate(many.rate),
        bytes=f"{100 * (many.bytes / one.bytes - 1):.0f}",
        ridge=f"{peaks.flops / peaks.memory:.0f}",
    )
    roof = words(
        "exhibit.roofline.roof",
        flops=_rate(peaks.flops),
        memory=f"{peaks.memory / GIGA:.1f}",
        cache=f"{peaks.cache / GIGA:.1f}",
    )
    return Exhibit(
        charts=tuple(_roof_chart(found, model, words) for model in ("large", "tiny")),
        sheets=(Sheet(words("exhibit.roofline.title"), heads, rows, labels=3),),
        points=(point, words("exhibit.roofline.why")),
        notes=(roof, measured_on(words)),
    )


def _tick(found: Phases, model: str, phase: str, count: int) -> Tick:
    return next(tick for tick in found.ticks if (tick.model, tick.phase, tick.count) == (model, phase, count))


def _rate(value: float) -> str:
    return f"{value / GIGA:.1f}"


def _tick_row(tick: Tick, peaks: Peaks, words: Catalogue) -> tuple[str, ...]:
    return (
        tick.model,
        tick.phase,
        words(f"exhibit.roofline.{tick.phase}", count=tick.count),
        f"{tick.flops / MEGA:,.1f}",
        f"{tick.bytes / MEGA:,.2f}",
        f"{tick.intensity:.2f}",
        f"{1000 * tick.seconds:.2f}",
        _rate(tick.rate),
        f"{100 * tick.rate / roof(peaks, tick.intensity):.0f} %",
    )


def roof(peaks: Peaks, intensity: float) -> float:
    """The most operations per second at so many per byte, when everything comes from memory."""
    return min(peaks.flops, peaks.memory * intensity)


def _roof_chart(found: Phases, model: str, words: Catalogue) -> Chart:
    peaks = found.peaks
    return Chart(
        f"roofline-{model}",
        words("exhibit.roofline.chart", model=model),
        words("exhibit.roofline.picture"),
        Axis(words("exhibit.roofline.intensity"), LEAST, MOST, powers(LEAST, MOST, 4), log=True),
        Axis("GFLOP/s", FLOOR, CEILING, powers(FLOOR, CEILING, 4), log=True),
        (
            _edge(words("exhibit.roofline.memory"), peaks.flops, peaks.memory),
            *(
                Series(
                    words("exhibit.roofline.series", model=model, phase=phase),
                    tuple(
                        Point(round(tick.intensity, 3), round(tick.rate / GIGA, 3), str(tick.count))
                        for tick in found.ticks
                        if (tick.model, tick.phase) == (model, phase)
                    ),
                    below=phase == "decode",
                )
                for phase in ("decode", "prefill")
            ),
        ),
    )


def _edge(name: str, flops: float, memory: float) -> Series:
    """Up along the memory, then flat: the line no tick gets above when its bytes come from there."""
    ridge = flops / memory
    corners = ((LEAST, memory * LEAST), (ridge, flops), (MOST, flops))
    points = tuple(Point(round(x, 3), round(y / GIGA, 3)) for x, y in corners)
    return Series(name, points, marks=False, quiet=True)


# ---- attention -------------------------------------------------------------------------------------

WAYS = ("whole", "tiled")


def attention(words: Catalogue) -> Exhibit:
    """The matrix of all scores against tiles: bytes, memory, time, and that the output is the same."""
    found = measured().attention
    names = ("length", "way", "moved", "extra", "ms", "difference")
    heads = tuple(words(f"exhibit.attention.{name}") for name in names)
    rows = tuple(_attend_row(row, words) for row in found)
    largest = max(row.length for row in found)
    whole, tiled = (_attend(found, way, largest) for way in WAYS)
    point = words(
        "exhibit.attention.point",
        length=f"{largest:,}",
        times=f"{(whole.moved or 0) / (tiled.moved or 1):.1f}",
        whole=_mega(whole.extra),
        tiled=_mega(tiled.extra),
        difference=f"{max(row.difference for row in found):.0e}",
    )
    return Exhibit(
        charts=(_attention_chart(found, words),),
        sheets=(Sheet(words("exhibit.attention.title"), heads, rows, labels=2),),
        points=(point, words("exhibit.attention.blocking")),
        notes=(words("exhibit.attention.computed"), measured_on(words)),
        code=("engine/kernels/attention.py", "engine/kernels/traffic.py"),
    )


def _attend(found: tuple[Attend, ...], way: str, length: int) -> Attend:
    return next(row for row in found if (row.way, row.length) == (way, length))


def _mega(value: int | None) -> str:
    return DASH if value is None else f"{value / MEGA:,.2f}"


def _attend_row(row: Attend, words: Catalogue) -> tuple[str, ...]:
    return (
        str(row.length),
        words(f"exhibit.attention.{row.way}"),
        _mega(row.moved),
        _mega(row.extra),
        f"{1000 * row.seconds:.2f}",
        f"{row.difference:.0e}" if row.difference else "0",
    )


def _attention_chart(found: tuple[Attend, ...], words: Catalogue) -> Chart:
    return Chart(
        "attention",
        words("exhibit.attention.title"),
        words("exhibit.attention.picture"),
        Axis("N", 128, 4096, powers(128, 4096, 2), log=True),
        Axis("MB", 0.1, 1000, powers(0.1, 1000, 10), log=True),
        tuple(
            Series(
                words(f"exhibit.attention.{way}"),
                tuple(Point(row.length, row.moved / MEGA) for row in found if row.way == way and row.moved),
            )
            for way in WAYS
        ),
    )


# ---- fusion ----------------------------------------------------------------------------------------


def fusion(words: Catalogue) -> Exhibit:
    """Chains of operations pass by pass and in one pass."""
    found = measured().fusion
    names = ("chain", "way", "moved", "extra", "ms", "difference")
    heads = tuple(words(f"exhibit.fusion.{name}") for name in names)
    rows = tuple(
        (
            words(f"exhibit.fusion.{one.chain}", rows=f"{one.rows:,}", width=f"{one.width:,}"),
            words("exhibit.fusion.fused" if one.fused else "exhibit.fusion.unfused"),
            f"{one.moved / MEGA:,.0f}",
            f"{one.extra / MEGA:,.0f}",
            f"{1000 * one.seconds:.0f}",
            f"{one.difference:.0e}" if one.difference else "0",
        )
        for one in found
    )
    before, after = found[:2]
    point = words(
        "exhibit.fusion.point",
        moved=f"{before.moved / after.moved:.1f}",
        time=f"{before.seconds / after.seconds:.1f}",
    )
    return Exhibit(
        sheets=(Sheet(words("exhibit.fusion.title"), heads, rows, labels=2),),
        points=(point,),
        notes=(words("exhibit.fusion.computed"), measured_on(words)),
        code=("engine/kernels/fusion.py", "engine/kernels/traffic.py"),
    )
