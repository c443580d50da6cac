"""KV pages: who owns which, observable and proved after every tick. No tensors here."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from typing import Protocol

from engine.kv.prefix import PrefixIndex

PageEvent = tuple[str, int, str]
"""What happened (allocate, write, share, free, preempt, cache, evict), to which page, for whom."""


class Pool(Protocol):
    """What the scheduler needs of an allocator.

    ``take``, ``share``, ``trim`` and ``release`` change the tables and append to ``events``, ``wrote``
    only appends; ``publish`` changes only what ``match`` can find; the rest changes nothing.
    ``length`` is the most tokens that one request may have, None for no such limit.
    """

    page_size: int
    total: int | None
    length: int | None
    events: list[PageEvent]

    def need(self, tokens: int) -> int: ...
    def has(self, count: int, beside: Sequence[int] = ()) -> bool: ...
    def largest(self, beside: Sequence[int] = ()) -> int: ...
    def take(self, key: str, count: int) -> None: ...
    def match(self, tokens: Sequence[int], most: int) -> list[int]: ...
    def share(self, key: str, pages: Sequence[int]) -> None: ...
    def publish(self, key: str, tokens: Sequence[int]) -> None: ...
    def wrote(self, key: str, start: int, end: int) -> None: ...
    def trim(self, key: str, count: int) -> None: ...
    def release(self, key: str, kind: str = "free") -> None: ...
    def table(self, key: str) -> list[int]: ...
    def tables(self) -> dict[str, tuple[int, ...]]: ...
    def used_count(self) -> int: ...
    def free_count(self) -> int | None: ...
    def cached_count(self) -> int: ...
    def check(self) -> None: ...


def pages_for(tokens: int, page_size: int) -> int:
    """⌈tokens / page_size⌉."""
    return -(-tokens // page_size)


def _writes(key: str, table: Sequence[int], page_size: int, start: int, end: int) -> list[PageEvent]:
    """An event for each page of ``table`` that holds one of the tokens ``start`` to ``end`` - 1."""
    if start >= end:
        return []
    return [("write", page, key) for page in table[start // page_size : pages_for(end, page_size)]]


class PagePool:
    """Pages of ``page_size`` tokens; ``total`` None is an unlimited pool that numbers pages as needed.

    A page is free, used (some table names it; ``references`` counts them), or, with a prefix
    ``index``, cached: unused, its content kept until the page is needed. Free pages are taken
    first, those never used before the others, which go in the order in which they came back; then
    the cached page unused for longest. (An unlimited pool numbers a new page only when none has come
    back.) A released table comes back last page first, so that the end of a text is evicted before
    its beginning.
    """

    def __init__(self, total: int | None, page_size: int, index: PrefixIndex | None = None) -> None:
        self.page_size = page_size
        self.total = total
        self.length: int | None = None
        self.index = index
        self.events: list[PageEvent] = []
        self.references: dict[int, int] = {}
        self._made = 0  # pages that have a number: they are 0, 1, ... up to here
        self._back: deque[int] = deque()  # used once and free again
        self._cached: dict[int, None] = {}  # least recently used first
        self._tables: dict[str, list[int]] = {}

    def need(self, tokens: int) -> int:
        """Pages that ``tokens`` tokens of one request take."""
        return pages_for(tokens, self.page_size)

    def has(self, count: int, beside: Sequence[int] = ()) -> bool:
        """Whether ``count`` pages can be taken now without touching the pages ``beside``."""
        return self.total is None or count <= self.largest(beside)

    def largest(self, beside: Sequence[int] = ()) -> int:
        """The most pages one request could take now, not touching those ``beside`` (of a limited pool)."""
        return (self.free_count() or 0) + len(self._cached) - sum(page in self._cached for page in beside)

    def take(self, key: str, count: int) -> None:
        """Append ``count`` pages to the table of ``key``. Raises MemoryError and changes nothing if short."""
        if not self.has(count):
            raise MemoryError(f"{key} wants {count} pages, {self.largest()} are free")
        table = self._tables.setdefault(key, [])
        for _ in range(count):
            page = self._next_page(key)
            table.append(page)
            self.references[page] = 1
            self.events.append(("allocate", page, key))

    def _next_page(self, key: str) -> int:
        if self.total is None and self._back:
            return self._back.popleft()
        if self.total is None or self._made < self.total:
            self._made += 1
            return self._made - 1
        if self._back:
            return self._back.popleft()
        assert self.index is not None
        page = next(iter(self._cached))
        del self._cached[page]
        self.index.drop(page)
        self.events.append(("evict", page, key))
        return page

    def match(self, tokens: Sequence[int], most: int) -> list[int]:
        """Pages that already hold the beginning of ``tokens``, at most ``most``; none without an index."""
        return self.index.match(tokens, most) if self.index is not None else []

    def share(self, key: str, pages: Sequence[int]) -> None:
        """Begin the table of ``key`` with ``pages`` that hold its first tokens."""
        table = self._tables.setdefault(key, [])
        for page in pages:
            self._cached.pop(page, None)
            self.references[page] = self.references.get(page, 0) + 1
            table.append(page)
            self.events.append(("share", page, key))

    def publish(self, key: str, tokens: Sequence[int]) -> None:
        """Let others find the full pages of ``key``; ``tokens`` are those whose K/V is stored."""
        if self.index is not None:
            self.index.add(self.table(key), tokens)

    def own(self, key: str, place: int) -> tuple[int, int] | None:
        """Make page ``place`` of ``key`` its own before it is written (copy on write).

        Returns (from, to) when the content must be copied, None when nobody else names the page.
        Raises MemoryError and changes nothing if no page is free for the copy.
        """
        table = self._tables[key]
        shared = table[place]
        if self.references[shared] == 1:
            return None
        self.take(key, 1)
        table[place] = copy = table.pop()
        self.references[shared] -= 1
        return shared, copy

    def wrote(self, key: str, start: int, end: int) -> None:
        """Note that tokens ``start`` to ``end`` - 1 of ``key`` were stored: one event per page."""
        self.events += _writes(key, self.table(key), self.page_size, start, end)

    def trim(self, key: str, count: int) -> None:
        """Give back the pages of ``key`` beyond its first ``count``."""
        table = self._tables.get(key, [])
        while len(table) > count:
            self._let_go(table.pop(), key, "free")

    def release(self, key: str, kind: str = "free") -> None:
        """Give every page of ``key`` back; ``kind`` names the event. Unknown keys are no error."""
        for page in reversed(self._tables.pop(key, [])):
            self._let_go(page, key, kind)

    def _let_go(self, page: int, key: str, kind: str) -> None:
        """One reference less; an unused page is cached if it can be found again, else free."""
        self.references[page] -= 1
        if self.references[page]:
            return
        del self.references[page]
        self.events.append((kind, page, key))
        if self.index is not None and page in self.index:
            self._cached[page] = None
            self.events.append(("cache", page, key))
        else:
            self._back.append(page)

    def table(self, key: str) -> list[int]:
        """The pages of ``key`` in token order, none when it has none: the table itself, which goes on
        changing, and not to be written to (``tables`` is a copy)."""
        return self._tables.get(key, [])

    def tables(self) -> dict[str, tuple[int, ...]]:
        """A snapshot of every table."""
        return {key: tuple(table) for key, table in self._tables.items()}

    def used_count(self) -> int:
        """Pages that some table names."""
        return len(self.references)

    def free_count(self) -> int | None:
        """Pages that are neither used nor cached; None when unlimited."""
        return None if self.total is None else self.total - self._made + len(self._back)

    def cached_count(self) -> int:
        """Pages kept for reuse that no request names."""
        return len(self._cached)

    def check(self) -> None:
        """Prove the accounts. Raises AssertionError naming what does not add up."""
        named = Counter(page for table in self._tables.values() for page in table)
        if named != self.references:
            raise AssertionError("reference counts differ from the tables that name the pages")
        every = [*self._back, *self._cached, *named]
        if len(set(every)) != len(every):
            raise AssertionError("a page is in two of: free, cached, used; or free twice")
        if len(every) != self._made or (self.total is not None and self._made > self.total):
            raise AssertionError("free + used + cached is not the total")
        if any(self.index is None or page not in self.index for page in self._cached):
            raise AssertionError("a cached page cannot be found")


class ContiguousPool:
    """The comparison allocator: one run of adjacent slots per request, first fit. A page is one slot.

    ``length`` slots each (None: exactly what the request needs, which shows external fragmentation).
    """

    page_size = 1

    def __init__(self, total: int, length: int | None) -> None:
        self.total: int | None = total
        self.length = length
        self.events: list[PageEvent] = []
        self._slots = total
        self._runs: dict[str, range] = {}

    def need(self, tokens: int) -> int:
        """Slots a request of ``tokens`` tokens takes; more than ``length`` never fits."""
        return tokens if self.length is None else max(tokens, self.length)

    def has(self, count: int, beside: Sequence[int] = ()) -> bool:
        """Whether a run of ``count`` free slots exists."""
        return count <= self.largest()

    def largest(self, beside: Sequence[int] = ()) -> int:
        """Length of the longest free run."""
        return max((len(gap) for gap in self._gaps()), default=0)

    def _gaps(self) -> list[range]:
        """The free runs, from the left."""
        edges = sorted(self._runs.values(), key=lambda run: run.start)
        starts = [0] + [run.stop for run in edges]
        stops = [run.start for run in edges] + [self._slots]
        return [range(a, b) for a, b in zip(starts, stops, strict=True) if a < b]

    def take(self, key: str, count: int) -> None:
        """Give ``key`` the first run of ``count`` slots.

        Raises MemoryError if there is none, ValueError if ``key`` has a run; then nothing has changed.
        """
        if key in self._runs:
            raise ValueError(f"{key} has a run; it must be released before another is taken")
        for gap in self._gaps():
            if len(gap) >= count:
                self._runs[key] = range(gap.start, gap.start + count)
                self.events.extend(("allocate", slot, key) for slot in self._runs[key])
                return
        raise MemoryError(f"{key} wants a run of {count} slots, the longest free run has {self.largest()}")

    def match(self, tokens: Sequence[int], most: int) -> list[int]:
        """Nothing: runs are not shared."""
        return []

    def share(self, key: str, pages: Sequence[int]) -> None:
        """Nothing: runs are not shared."""

    def publish(self, key: str, tokens: Sequence[int]) -> None:
        """Nothing: runs are not shared."""

    def wrote(self, key: str, start: int, end: int) -> None:
        """Note that tokens ``start`` to ``end`` - 1 of ``key`` were stored: one event per page."""
        self.events += _writes(key, self.table(key), self.page_size, start, end)

    def trim(self, key: str, count: int) -> None:
        """Nothing: a run is given back whole."""

    def release(self, key: str, kind: str = "free") -> None:
        """Give the run of ``key`` back; unknown keys are no error."""
        self.events.extend((kind, slot, key) for slot in self._runs.pop(key, range(0)))

    def table(self, key: str) -> list[int]:
        """The slots of ``key`` in token order."""
        return list(self._runs.get(key, range(0)))

    def tables(self) -> dict[str, tuple[int, ...]]:
        """A snapshot of every run, as slots."""
        return {key: tuple(run) for key, run in self._runs.items()}

    def used_count(self) -> int:
        """Slots in runs."""
        return sum(map(len, self._runs.values()))

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
