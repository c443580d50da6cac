"""The prefix index: which page holds the keys and values of which beginning of a text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

Tokens = tuple[int, ...]


@dataclass(slots=True, eq=False)
class Beginning:
    """A text of whole pages: ``before`` and then ``tokens``, one page of them.

    ``pages`` hold the keys and values of ``tokens`` behind that very text, the oldest first;
    ``longer`` are the texts with one page more.
    """

    before: Beginning | None
    tokens: Tokens
    pages: list[int] = field(default_factory=list)
    longer: dict[Tokens, Beginning] = field(default_factory=dict)


class PrefixIndex:
    """A tree of the texts whose pages can be found; ``page_size`` tokens a page.

    A key depends on all tokens before it, hence a page is found by the way that leads to it, and the
    tokens themselves are compared.
    """

    def __init__(self, page_size: int) -> None:
        self.page_size = page_size
        self._empty = Beginning(None, ())
        self._ends: dict[int, Beginning] = {}  # page: the text that ends with it

    def __contains__(self, page: int) -> bool:
        return page in self._ends

    def __len__(self) -> int:
        return len(self._ends)

    def match(self, tokens: Sequence[int], most: int) -> list[int]:
        """Pages that hold the first full pages of ``tokens``, at most ``most`` of them, in order."""
        found: list[int] = []
        text = self._empty
        for place in range(min(most, len(tokens) // self.page_size)):
            longer = text.longer.get(self._page_of(tokens, place))
            if longer is None or not longer.pages:
                break
            found.append(longer.pages[0])
            text = longer
        return found

    def add(self, table: Sequence[int], tokens: Sequence[int]) -> None:
        """Make the full pages of a table findable; ``tokens`` are those whose K/V is stored, in order."""
        text = self._empty
        for place in range(len(tokens) // self.page_size):
            page = table[place]
            if page not in self._ends:
                self._ends[page] = self._longer(text, self._page_of(tokens, place))
                self._ends[page].pages.append(page)
            text = self._ends[page]

    def drop(self, page: int) -> None:
        """Forget a page whose memory is about to be used for something else."""
        text = self._ends.pop(page)
        text.pages.remove(page)
        while text.before is not None and not text.pages and not text.longer:
            del text.before.longer[text.tokens]
            text = text.before

    def _page_of(self, tokens: Sequence[int], place: int) -> Tokens:
        return tuple(tokens[place * self.page_size : (place + 1) * self.page_size])

    @staticmethod
    def _longer(text: Beginning, tokens: Tokens) -> Beginning:
        if tokens not in text.longer:
            text.longer[tokens] = Beginning(text, tokens)
        return text.longer[tokens]
