"""Does it matter who shares the tick? Every request alone and in company, in both modes, bit by bit."""

from __future__ import annotations

from engine.bench.paper import page, plain
from engine.bench.setting import Setting
from engine.serving.company import Invariance, invariances
from engine.traces import main_trace
from engine.words import Catalogue

NAME = "invariance"


def measure(setting: Setting) -> tuple[Invariance, ...]:
    """R01–R04 in fast and in exact mode."""
    return tuple(invariances(setting.model, main_trace()))


COLUMNS = "mode request first_difference difference margin same_tokens"


def tell(result: tuple[Invariance, ...], words: Catalogue) -> str:
    """The section as text."""
    rows = [
        (
            row.mode,
            row.id,
            plain(row.first),
            f"{row.difference:.1e}" if row.difference else "0",
            f"{row.margin:.3f}",
            words("bench.yes" if row.same_tokens else "bench.no"),
        )
        for row in result
    ]
    return page(words, NAME, COLUMNS, rows)
