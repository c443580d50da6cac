"""Speed and memory, measured: what ``python -m engine bench`` prints.

A section is a module with ``NAME``, ``measure(setting)``, which gives plain values, and
``tell(result, words)``, which puts them on paper. Everything is measured in one process with one
number of threads; contenders take turns, and medians count (see ``timing``).
"""

from engine.bench.bench import SECTIONS, Bench, bench
from engine.bench.setting import Setting, trained_setting

__all__ = ["SECTIONS", "Bench", "Setting", "bench", "trained_setting"]
