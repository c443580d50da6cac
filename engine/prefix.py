"""The prefix index: which page holds the keys and values of which beginning of a text.

A full page is found by the hash of the chain of pages that leads to it. A hash is only a hint: the
tokens are compared too, so a collision costs time and never gives a wrong page.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

Tokens = tuple[int, ...]


def chain_hash(parent: int, tokens: Tokens) -> int:
    """Hash of a page's tokens after the pages whose hash is ``parent``. Same in every process."""
    return hash((parent, tokens))


class PrefixIndex:
    """Pages by the text that ends with them. ``page_size`` tokens a page; ``hasher`` for tests."""

    def __init__(self, page_size: int, hasher: Callable[[int, Tokens], int] = chain_hash) -> None:
        self.page_size = page_size
        self._hash = hasher
        self._pages: dict[int, list[int]] = {}  # hash: pages, oldest first
        self._texts: dict[int, tuple[int, Tokens]] = {}  # page: its hash, all tokens up to its end

    def __contains__(self, page: int) -> bool:
        return page in self._texts

    def __len__(self) -> int:
        return len(self._texts)

    def match(self, tokens: Sequence[int], most: int) -> list[int]:
        """Pages that hold the first full pages of ``tokens``, at most ``most`` of them, in order."""
        found: list[int] = []
        chain = 0
        for place in range(min(most, len(tokens) // self.page_size)):
            end = (place + 1) * self.page_size
            chain = self._hash(chain, tuple(tokens[end - self.page_size : end]))
            text = tuple(tokens[:end])
            page = next((p for p in self._pages.get(chain, ()) if self._texts[p][1] == text), None)
            if page is None:
                break
            found.append(page)
        return found

    def add(self, table: Sequence[int], tokens: Sequence[int]) -> None:
        """Make the full pages of a table findable; ``tokens`` are those whose K/V is stored, in order."""
        chain = 0
        for place in range(len(tokens) // self.page_size):
            end = (place + 1) * self.page_size
            chain = self._hash(chain, tuple(tokens[end - self.page_size : end]))
            if table[place] not in self._texts:
                self._texts[table[place]] = (chain, tuple(tokens[:end]))
                self._pages.setdefault(chain, []).append(table[place])

    def drop(self, page: int) -> None:
        """Forget a page whose memory is about to be used for something else."""
        chain, _ = self._texts.pop(page)
        self._pages[chain].remove(page)
        if not self._pages[chain]:
            del self._pages[chain]
