"""A pool that counts: as large and as full as a page pool, without saying which page is whose."""

from __future__ import annotations

from collections.abc import Sequence

from engine.kv.pages import PageEvent, pages_for


class CountingPool:
    """Decides what a PagePool without a prefix index decides, and keeps no page numbers.

    For runs of which only sums are wanted; ``total`` None is unlimited. Tables are counted from 0
    for every request, and there are no events.
    """

    def __init__(self, total: int | None, page_size: int) -> None:
        self.page_size = page_size
        self.total = total
        self.length: int | None = None
        self.used = 0
        self.events: list[PageEvent] = []
        self._counts: dict[str, int] = {}

    def need(self, tokens: int) -> int:
        """Pages that ``tokens`` tokens of one request take."""
        return pages_for(tokens, self.page_size)

    def has(self, count: int, beside: Sequence[int] = ()) -> bool:
        """Whether ``count`` pages can be taken now."""
        return self.total is None or self.used + count <= self.total

    def largest(self, beside: Sequence[int] = ()) -> int:
        """The most pages one request could take now (meaningful for a limited pool)."""
        return (self.total or 0) - self.used

    def take(self, key: str, count: int) -> None:
        """Count ``count`` more pages for ``key``. Raises MemoryError and changes nothing if short."""
        if not self.has(count):
            raise MemoryError(f"{key} wants {count} pages, {self.largest()} are free")
        self._counts[key] = self._counts.get(key, 0) + count
        self.used += count

    def match(self, tokens: Sequence[int], most: int) -> list[int]:
        """Nothing: contents are not kept."""
        return []

    def share(self, key: str, pages: Sequence[int]) -> None:
        """Nothing: contents are not kept."""

    def publish(self, key: str, tokens: Sequence[int]) -> None:
        """Nothing: contents are not kept."""

    def wrote(self, key: str, start: int, end: int) -> None:
        """Nothing: there are no events."""

    def trim(self, key: str, count: int) -> None:
        """Give back the pages of ``key`` beyond its first ``count``."""
        back = max(0, self._counts.get(key, 0) - count)
        if back:
            self._counts[key] = count
            self.used -= back

    def release(self, key: str, kind: str = "free") -> None:
        """Give every page of ``key`` back. Unknown keys are no error."""
        self.used -= self._counts.pop(key, 0)

    def table(self, key: str) -> list[int]:
        """As many numbers as ``key`` has pages."""
        return list(range(self._counts.get(key, 0)))

    def tables(self) -> dict[str, tuple[int, ...]]:
        """Nothing: which page is whose is not known."""
        return {}

    def used_count(self) -> int:
        """Pages in use."""
        return self.used

    def free_count(self) -> int | None:
        """Pages that are not used; None when unlimited."""
        return None if self.total is None else self.total - self.used

    def cached_count(self) -> int:
        """Contents are not kept."""
        return 0

    def check(self) -> None:
        """Prove the sum. Raises AssertionError."""
        if self.used != sum(self._counts.values()):
            raise AssertionError("the pages in use are not the sum of what the requests have")
