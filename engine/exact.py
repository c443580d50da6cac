"""Exact decimals: binary floating point must not decide in which tick something happens."""

from __future__ import annotations

from decimal import Context, Decimal, InvalidOperation
from fractions import Fraction

from engine.errors import InputError, Where


def seconds(value: object, where: Where) -> Decimal:
    """``value`` (str, Decimal, int or float, in seconds) as the decimal a reader sees.

    A float means its shortest decimal form, so 0.1 is one tenth. Raises InputError
    when it is not a finite number; ``where`` names the place in the message.
    """
    if isinstance(value, bool) or not isinstance(value, (str, Decimal, int, float)):
        raise InputError.of("not_seconds", at=where, value=repr(value))
    try:
        text = str(value).strip()
        number = Decimal("" if "_" in text else text)
    except (InvalidOperation, ValueError):
        raise InputError.of("not_seconds", at=where, value=repr(value)) from None
    if not number.is_finite():
        raise InputError.of("not_finite", at=where, value=repr(value))
    if number and not -30 <= number.adjusted() <= 30:
        raise InputError.of("seconds_out_of_range", at=where, value=repr(value))
    return number


def start_of(tick: int, length: Decimal) -> Decimal:
    """When tick number ``tick`` starts, in seconds, to the last digit."""
    digits = len(length.as_tuple().digits) + len(str(tick))
    return Context(prec=digits).multiply(Decimal(tick), length)


def first_tick(moment: Decimal | Fraction, tick: Fraction) -> int:
    """The smallest k with k · tick ≥ ``moment``: the first tick at whose start it has passed."""
    numerator, denominator = moment.as_integer_ratio()
    return -(-(numerator * tick.denominator) // (denominator * tick.numerator))
