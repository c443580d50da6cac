"""How often things have happened since this server was started."""

from __future__ import annotations

from collections import Counter


class Counts:
    """Numbers by name; each only grows. Calls of the store are counted under their own names."""

    def __init__(self) -> None:
        self._counted: Counter[str] = Counter()

    def add(self, name: str) -> None:
        self._counted[name] += 1

    def __getitem__(self, name: str) -> int:
        return self._counted[name]
