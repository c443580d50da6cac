"""KV pages: who owns which, observable and proved after every tick. No tensors here."""

from __future__ import annotations

from collections import deque
from typing import Protocol


class Pool(Protocol):
    """What the scheduler needs of an allocator.

    ``take`` and ``release`` change the tables and append to ``events``; the rest changes nothing.
    """

    page_size: int
    total: int | None
    events: list[tuple[str, int, str]]

    def need(self, tokens: int) -> int: ...
    def has(self, count: int) -> bool: ...
    def largest(self) -> int: ...
    def take(self, key: str, count: int) -> None: ...
    def release(self, key: str) -> None: ...
    def table(self, key: str) -> list[int]: ...
    def tables(self) -> dict[str, tuple[int, ...]]: ...
    def free_count(self) -> int | None: ...
    def cached_count(self) -> int: ...
    def check(self) -> None: ...


def pages_for(tokens: int, page_size: int) -> int:
    """⌈tokens / page_size⌉."""
    return -(-tokens // page_size)


class PagePool:
    """Pages of ``page_size`` tokens; ``total`` None is an unlimited pool that numbers pages as needed.

    Free pages are reused in the order in which they came back; a released table comes back
    last page first.
    """

    def __init__(self, total: int | None, page_size: int) -> None:
        self.page_size = page_size
        self.total = total
        self.events: list[tuple[str, int, str]] = []
        self._made = total or 0
        self._free: deque[int] = deque(range(self._made))
        self._tables: dict[str, list[int]] = {}
        self._references: dict[int, int] = {}

    def need(self, tokens: int) -> int:
        """Pages that ``tokens`` tokens of one request take."""
        return pages_for(tokens, self.page_size)

    def has(self, count: int) -> bool:
        """Whether ``count`` pages can be taken now."""
        return self.total is None or count <= len(self._free)

    def largest(self) -> int:
        """The most pages one request could take now (meaningful for a limited pool)."""
        return len(self._free)

    def take(self, key: str, count: int) -> None:
        """Append ``count`` pages to the table of ``key``. Raises MemoryError and changes nothing if short."""
        if not self.has(count):
            raise MemoryError(f"{key} wants {count} pages, {len(self._free)} are free")
        table = self._tables.setdefault(key, [])
        for _ in range(count):
            page = self._next_page()
            table.append(page)
            self._references[page] = 1
            self.events.append(("allocate", page, key))

    def _next_page(self) -> int:
        if not self._free:
            self._made += 1
            return self._made - 1
        return self._free.popleft()

    def release(self, key: str) -> None:
        """Give back every page of ``key`` that nobody else names; unknown keys are no error."""
        for page in reversed(self._tables.pop(key, [])):
            self._references[page] -= 1
            if not self._references[page]:
                del self._references[page]
                self._free.append(page)
                self.events.append(("free", page, key))

    def table(self, key: str) -> list[int]:
        """The pages of ``key`` in token order (empty when it has none)."""
        return self._tables.get(key, [])

    def tables(self) -> dict[str, tuple[int, ...]]:
        """A snapshot of every table."""
        return {key: tuple(table) for key, table in self._tables.items()}

    def free_count(self) -> int | None:
        """Free pages; None when unlimited."""
        return None if self.total is None else len(self._free)

    def cached_count(self) -> int:
        """Pages kept for reuse that no request names."""
        return 0

    def check(self) -> None:
        """Prove the accounts. Raises AssertionError naming what does not add up."""
        named: dict[int, int] = {}
        for table in self._tables.values():
            for page in table:
                named[page] = named.get(page, 0) + 1
        if named != self._references:
            raise AssertionError("reference counts differ from the tables that name the pages")
        if len(set(self._free)) != len(self._free) or named.keys() & set(self._free):
            raise AssertionError("a page is free twice, or free and used")
        if len(self._free) + len(named) + self.cached_count() != self._made:
            raise AssertionError("free + used + cached is not the total")


class ContiguousPool:
    """The comparison allocator: one run of adjacent slots per request, first fit. A page is one slot.

    ``length`` slots each (None: exactly what the request needs, which shows external fragmentation).
    """

    page_size = 1

    def __init__(self, total: int, length: int | None) -> None:
        self.total: int | None = total
        self.length = length
        self.events: list[tuple[str, int, str]] = []
        self._slots = total
        self._runs: dict[str, range] = {}

    def need(self, tokens: int) -> int:
        """Slots a request of ``tokens`` tokens takes; more than ``length`` never fits."""
        return tokens if self.length is None else max(tokens, self.length)

    def has(self, count: int) -> bool:
        """Whether a run of ``count`` free slots exists."""
        return count <= self.largest()

    def largest(self) -> int:
        """Length of the longest free run."""
        return max((len(gap) for gap in self._gaps()), default=0)

    def _gaps(self) -> list[range]:
        """The free runs, from the left."""
        edges = sorted(self._runs.values(), key=lambda run: run.start)
        starts = [0] + [run.stop for run in edges]
        stops = [run.start for run in edges] + [self._slots]
        return [range(a, b) for a, b in zip(starts, stops, strict=True) if a < b]

    def take(self, key: str, count: int) -> None:
        """Give ``key`` the first run of ``count`` slots. Raises MemoryError and changes nothing if none."""
        for gap in self._gaps():
            if len(gap) >= count:
                self._runs[key] = range(gap.start, gap.start + count)
                self.events.extend(("allocate", slot, key) for slot in self._runs[key])
                return
        raise MemoryError(f"{key} wants a run of {count} slots, the longest free run has {self.largest()}")

    def release(self, key: str) -> None:
        """Give the run of ``key`` back; unknown keys are no error."""
        self.events.extend(("free", slot, key) for slot in self._runs.pop(key, range(0)))

    def table(self, key: str) -> list[int]:
        """The slots of ``key`` in token order."""
        return list(self._runs.get(key, range(0)))

    def tables(self) -> dict[str, tuple[int, ...]]:
        """A snapshot of every run, as slots."""
        return {key: tuple(run) for key, run in self._runs.items()}

    def free_count(self) -> int | None:
        """Free slots, adjacent or not."""
        return sum(map(len, self._gaps()))

    def cached_count(self) -> int:
        """Contiguous KV is never shared or kept."""
        return 0

    def check(self) -> None:
        """Prove that no slot has two owners and every run lies in the pool."""
        used = [slot for run in self._runs.values() for slot in run]
        if len(set(used)) != len(used) or any(not 0 <= slot < self._slots for slot in used):
            raise AssertionError("two runs overlap or leave the pool")
