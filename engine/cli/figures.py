"""Numbers as text. A value that does not exist is a dash, never 0."""

from __future__ import annotations

from engine.measuring.percentiles import Range

NOTHING = "—"


def number(value: float | None, digits: int = 3) -> str:
    """A plain figure with ``digits`` decimals."""
    return NOTHING if value is None else f"{value:.{digits}f}"


def percent(value: float | None) -> str:
    """A share of 1 as a percentage."""
    return NOTHING if value is None else f"{100 * value:.1f} %"


def span(value: float | Range | None) -> str:
    """A percentile; what the window does not decide is “≥ lower” or “lower–upper”."""
    if not isinstance(value, Range):
        return number(value)
    if value.at_most is None:
        return f"≥ {number(value.at_least)}"
    return f"{number(value.at_least)}–{number(value.at_most)}"


def setting_text(value: object) -> str:
    """A setting as its flag takes it: none, true and false in small letters."""
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)
