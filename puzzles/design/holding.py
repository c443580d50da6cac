"""Who was held by what: the reasons of a run, added up over its ticks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

import msgspec

from engine import TickRecord

UNTOLD = "behind"  # a queue whose head was not held for a reason of its own


class Held(msgspec.Struct, frozen=True):
    """What one reason cost. Ticks are counted per request: two that wait for one tick are two.

    ``head`` are the ticks of those it held itself, ``behind`` of those who waited behind a head that it
    held; ``who`` are the requests it held, either way, with their ticks.
    """

    code: str
    head: int
    behind: int
    who: dict[str, int]

    @property
    def ticks(self) -> int:
        return self.head + self.behind

    def of(self, ids: Iterable[str]) -> int:
        """Ticks that it cost these requests."""
        return sum(self.who.get(one, 0) for one in ids)


def held(records: Iterable[TickRecord]) -> tuple[Held, ...]:
    """Every reason that held somebody, the costliest first."""
    counts: dict[tuple[str, bool], int] = defaultdict(int)
    who: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for record in records:
        for key, code, behind in _holds(record):
            counts[code, behind] += 1
            who[code][key] += 1
    found = (Held(code, counts[code, False], counts[code, True], dict(ids)) for code, ids in who.items())
    return tuple(sorted(found, key=lambda one: (-one.ticks, one.code)))


def _holds(record: TickRecord) -> Iterator[tuple[str, str, bool]]:
    """(request, reason, whether it only stood behind the one that the reason held) of one tick."""
    told = {key: reason.code for key, reason in record.blocked if key not in record.refused}
    yield from ((key, code, False) for key, code in told.items())
    if record.waiting:
        cause = told.get(record.waiting[0], UNTOLD)
        yield from ((key, cause, True) for key in record.waiting if key not in told)
