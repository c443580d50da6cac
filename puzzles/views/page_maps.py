"""The KV pool at the end of each tick: who owns which page, and how much of it is written."""

from __future__ import annotations

from itertools import groupby

from engine import History, Service, TickRecord
from engine.progress import walk
from engine.words import Catalogue
from puzzles.views.common import colours, title
from puzzles.views.model import Page, PageFrame, PageMap


def page_map(history: History, name: str, words: Catalogue) -> PageMap:
    """The pool of the run ``name``. A contiguous pool shows runs of slots, the free ones too."""
    paged = history.service.kv_layout == "paged"
    frames = [
        _frame(record, {key: tokens.written for key, tokens in stored.items()}, history.service, words)
        for record, stored in walk(history.records)
    ]
    return PageMap(
        name=name,
        title=title(name, words),
        layout="paged" if paged else "contiguous",
        page_size=history.service.page_size if paged else 1,
        colours=colours(history),
        frames=tuple(frames),
    )


def _frame(record: TickRecord, written: dict[str, int], service: Service, words: Catalogue) -> PageFrame:
    paged = service.kv_layout == "paged"
    return PageFrame(
        tick=record.tick,
        pages=_paged(record, written, service) if paged else _runs(record, written, service),
        reserved=record.reserved,
        held=record.held,
        written=record.written,
        free=record.free,
        events=tuple(_events(record, paged, words)),
        cached=record.cached,
    )


def _paged(record: TickRecord, written: dict[str, int], service: Service) -> tuple[Page, ...]:
    """Every page of the pool by its number; of an unlimited pool, up to the last one in use."""
    size = service.page_size
    owners: dict[int, list[str]] = {}
    filled: dict[int, int] = {}
    for key, table in record.pages.items():
        for place, page in enumerate(table):
            owners.setdefault(page, []).append(key)
            filled.setdefault(page, min(size, max(0, written[key] - place * size)))
    total = service.pages if service.pages is not None else max(owners, default=-1) + 1
    free: list[str | None] = [None]
    named = ((owners.get(page) or free, filled.get(page, 0)) for page in range(total))
    return tuple(Page(keys[0], count, size, tuple(filter(None, keys[1:]))) for keys, count in named)


def _runs(record: TickRecord, written: dict[str, int], service: Service) -> tuple[Page, ...]:
    """The pool from the left as runs of slots with one owner, or with none."""
    owners = {slot: key for key, table in record.pages.items() for slot in table}
    slots = [owners.get(slot) for slot in range(service.slots or 0)]
    return tuple(Page(key, written[key] if key else 0, len(list(group))) for key, group in groupby(slots))


def _events(record: TickRecord, paged: bool, words: Catalogue) -> list[str]:
    """The page events of a tick, one sentence per request and kind."""
    sentences = []
    for (kind, key), group in groupby(record.page_events, key=lambda event: (event[0], event[2])):
        pages = [page for _, page, _ in group]
        text = f"pages.{'page' if paged else 'slot'}.{kind}"
        sentences.append(words(text, id=key, count=len(pages), which=ranges(pages)))
    return sentences


def ranges(numbers: list[int]) -> str:
    """Numbers in short: 0–7, 12."""
    parts = []
    for _, group in groupby(enumerate(sorted(numbers)), key=lambda pair: pair[1] - pair[0]):
        run = [value for _, value in group]
        parts.append(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}")
    return ", ".join(parts)
