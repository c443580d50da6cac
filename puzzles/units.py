"""Units an answer may have: how near is right, what may be typed, how it is printed."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import msgspec

from engine.words import Catalogue
from puzzles.words import grouped, number, plain


class Unit(msgspec.Struct, frozen=True):
    """``near``: an answer is right when nearer than this (None: half a tick, or the KV of half a token).

    ``scales`` are the units that may be typed, ``most`` the largest sensible value. ``decimals``: printed
    with two or three decimals, else without needless ones.
    """

    name: str
    near: Fraction | None
    scales: dict[str, Decimal]
    example: str
    most: Decimal = Decimal(1_000_000)
    decimals: bool = False


ONE, MILLI = Decimal(1), Decimal("0.001")
RATE = {"tok/s": ONE, "tokens/s": ONE, "token/s": ONE}
SECONDS = {"s": ONE, "sec": ONE, "second": ONE, "seconds": ONE, "秒": ONE, "ms": MILLI, "毫秒": MILLI}
BYTES = {"b": ONE, "byte": ONE, "bytes": ONE, "kb": 1 / MILLI, "mb": MILLI**-2, "gb": MILLI**-3}
BINARY = {"kib": Decimal(2**10), "mib": Decimal(2**20), "gib": Decimal(2**30)}
MEGABYTES = {"mb": ONE, "kb": MILLI, "b": MILLI * MILLI, "gb": Decimal(1000)}
HALF = Fraction(1, 2)


def _counted(name: str) -> Unit:
    """Whole things: right is exactly right."""
    return Unit(name, HALF, {name: ONE, name.rstrip("s"): ONE}, "12")


UNITS = {
    unit.name: unit
    for unit in (
        Unit("s", None, SECONDS, "0.75", Decimal(100_000), decimals=True),
        Unit("MB", None, MEGABYTES, "7.5"),
        Unit("B", HALF, BYTES | BINARY, "65536", Decimal(10) ** 15),
        Unit("GB", Fraction(1, 20), {"gb": ONE, "mb": MILLI, "b": MILLI**3}, "1.5"),
        Unit("ms", Fraction(1, 20), {"ms": ONE}, "0.75", decimals=True),
        Unit("tok/s", Fraction(1, 10), RATE, "12.5", decimals=True),
        Unit("req/s", Fraction(1, 50), {"req/s": ONE, "requests/s": ONE}, "0.75", decimals=True),
        Unit("FLOP/B", Fraction(1, 20), {"flop/b": ONE, "flops/b": ONE, "flop/byte": ONE}, "4.5"),
        Unit("%", Fraction(1), {"%": ONE}, "80"),
        Unit("×", Fraction(1, 20), {"x": ONE, "×": ONE}, "7.5"),
        Unit("nats", Fraction(1, 100), {"nats": ONE, "nat": ONE}, "1.25", decimals=True),
        *map(_counted, ("tokens", "pages", "requests", "ticks", "slots", "gaps", "rounds", "times")),
    )
}

AT_LEAST = "≥ "  # begins an answer that is only known to be at least so much


def at_least(value: float | Fraction) -> str:
    """An answer that says: not less than ``value``."""
    return f"{AT_LEAST}{number(value)}"


def bound_of(answer: str) -> Fraction | None:
    """The number of an ``at_least`` answer; None for any other text."""
    return Fraction(answer.removeprefix(AT_LEAST)) if answer.startswith(AT_LEAST) else None


def printed(value: float, unit: str, words: Catalogue) -> str:
    """A value with its unit; whole things are counted in words."""
    text = grouped(digits(value, unit))
    one = f"unit.{unit}.one"
    return f"{text} {words(one) if value == 1 and one in words else unit_name(unit, words)}"


def digits(value: float, unit: str) -> str:
    """A value without its unit."""
    return number(round(value, 3)) if UNITS[unit].decimals else plain(round(value, 3))


def unit_name(unit: str, words: Catalogue) -> str:
    """A unit as a reader sees it beside an empty box."""
    return words(f"unit.{unit}") if f"unit.{unit}" in words else unit
