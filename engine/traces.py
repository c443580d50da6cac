"""The trace of the lab, R01–R04. Traces from files are read by ``engine.load_trace``."""

from __future__ import annotations

from decimal import Decimal

from engine.requests import Request

MAIN_NAME = "R01-R04"

# A token is a byte: each prompt is exactly as long in ASCII as the trace says.
_MAIN = (
    ("R01", "0.00", "To be, or not to b", 12),
    ("R02", "0.10", "My lor", 2),
    ("R03", "0.22", "Sweet", 3),
    ("R04", "0.38", "Farewel", 2),
)


def main_trace() -> list[Request]:
    """R01–R04: one long request at the door, three short ones behind it."""
    return [
        Request(name, Decimal(arrival), len(prompt), output, prompt)
        for name, arrival, prompt, output in _MAIN
    ]
