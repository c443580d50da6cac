"""Exhibits about sharing a tick, on the engine's own record: milliseconds, and bits."""

from __future__ import annotations

from statistics import median

from engine.words import Catalogue
from puzzles.charts import Axis, Chart, Point, Series, steps
from puzzles.exhibits.model import Exhibit
from puzzles.measured import Neighbour, measured, measured_on
from puzzles.quantization import Sheet, made, record
from puzzles.words import DASH

COMES = 6  # the tick in which the neighbour comes
SHOWN = range(3, 20)  # the first ticks read prompts of their own


def neighbour(words: Catalogue) -> Exhibit:
    """Milliseconds per tick of three that decode, while a fourth reads its prompt in several ways."""
    found = measured().neighbour
    heads = tuple(words(f"exhibit.neighbour.{name}") for name in ("way", "ticks", "usual", "gap", "first"))
    rows = tuple(
        (
            words(f"exhibit.neighbour.{row.way}"),
            str(sum(tick.prefill > 0 for tick in row.ticks[COMES:])),
            _ms(usual(row)),
            _ms(row.gap),
            DASH if row.first is None else _ms(row.first),
        )
        for row in found
    )
    by_way = {row.way: row for row in found}
    point = words(
        "exhibit.neighbour.point",
        times=f"{by_way['whole'].gap / usual(by_way['whole']):.0f}",
        whole=_ms(by_way["whole"].gap),
        chunks=_ms(by_way["chunks"].gap),
        shared=_ms(by_way["shared"].gap),
        first=_ms(by_way["whole"].first or 0),
        last=_ms(by_way["shared"].first or 0),
    )
    return Exhibit(
        charts=(_chart(found, words),),
        sheets=(Sheet(words("exhibit.neighbour.title"), heads, rows),),
        points=(point,),
        notes=(measured_on(words),),
    )


def usual(row: Neighbour) -> float:
    """Seconds of a tick before the neighbour came."""
    return median(tick.seconds for tick in row.ticks[1:COMES])


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.2f} ms"


def _chart(found: tuple[Neighbour, ...], words: Catalogue) -> Chart:
    ticks = steps([1000 * row.ticks[tick].seconds for row in found for tick in SHOWN])
    return Chart(
        "neighbour",
        words("exhibit.neighbour.title"),
        words("exhibit.neighbour.picture"),
        Axis("tick", SHOWN[0], SHOWN[-1], tuple(SHOWN[::3])),
        Axis("ms", 0, ticks[-1], ticks),
        tuple(
            Series(
                words(f"exhibit.neighbour.{row.way}"),
                tuple(Point(tick, round(1000 * row.ticks[tick].seconds, 3)) for tick in SHOWN),
                quiet=row.way == "alone",
                marks=row.way != "alone",
            )
            for row in found
        ),
    )


def company(words: Catalogue) -> Exhibit:
    """R01–R03, each alone and with the others in its ticks, in both modes."""
    found = record()
    names = ("mode", "id", "first", "difference", "margin", "same")
    heads = tuple(words(f"exhibit.company.{name}") for name in names)
    rows = tuple(
        (
            row.mode,
            row.id,
            DASH if row.first is None else str(row.first + 1),
            f"{row.difference:.1e}" if row.difference else "0",
            f"{row.margin:.3f}",
            words("exhibit.company.yes" if row.same_tokens else "exhibit.company.no"),
        )
        for row in found.company
    )
    sheet = Sheet(words("exhibit.company.title"), heads, rows, labels=2)
    point = words("exhibit.company.point")
    return Exhibit(sheets=(sheet,), points=(point,), notes=(made(found, words),), answers=True)
