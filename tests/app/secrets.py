"""What nobody may see before the lock: the answers, and anything of a run."""

from __future__ import annotations

import re

from puzzles import load, solve

# Numbers that the question itself tells: the ticks, and what stands in the trace or the rules.
TOLD = {0.1, 1.0, 2.0, 0.25}
OF_A_RUN = ('"cells"', '"frames"', '"speech"', "page_events", '"emitted"', "mean_ttft", "refute")
NUMBER = re.compile(r"(?<![\w.\-#])(\d+\.\d+)(?![\w.%])")


def answers() -> set[float]:
    """The answers of the main exercise that the question does not tell."""
    return {value for value in solve(load("main")).values() if isinstance(value, float)} - TOLD


def betrayed(text: str) -> list[str]:
    """What ``text`` gives away. A run travels as JSON within JSON, where its quotes are escaped."""
    text = text.replace('\\"', '"')
    secret = answers()
    numbers = [found for found in NUMBER.findall(text) if float(found) in secret]
    return numbers + [word for word in OF_A_RUN if word in text]
