"""The KV pool at the end of each tick: who owns which page, and how much of it is written."""

from __future__ import annotations

from itertools import groupby

from engine import History, Reason, Service, TickRecord
from engine.measuring.progress import walk
from engine.scheduling.explain import sentence
from engine.scheduling.explain_pages import explain_pages
from engine.words import Catalogue, engine_words
from puzzles.views.common import colours, title
from puzzles.views.model import Page, PageFrame, PageMap


def page_map(history: History, name: str, words: Catalogue) -> PageMap:
    """The pool of the run ``name``. A contiguous pool shows runs of slots, the free ones too."""
    paged = history.service.kv_layout == "paged"
    service = history.service
    told = explain_pages(history.records, service)
    frames = [
        _frame(record, {key: tokens.written for key, tokens in stored.items()}, reasons, service, words)
        for (record, stored), reasons in zip(walk(history.records), told, strict=True)
    ]
    return PageMap(
        name=name,
        title=title(name, words),
        layout="paged" if paged else "contiguous",
        page_size=history.service.page_size if paged else 1,
        colours=colours(history),
        frames=tuple(frames),
    )


def _frame(
    record: TickRecord,
    written: dict[str, int],
    reasons: dict[int, Reason],
    service: Service,
    words: Catalogue,
) -> PageFrame:
    paged, engine = service.kv_layout == "paged", engine_words(words.language)
    return PageFrame(
        tick=record.tick,
        pages=_paged(record, written, reasons, service, engine)
        if paged
        else _runs(record, written, reasons, service, engine),
        reserved=record.reserved,
        held=record.held,
        written=record.written,
        free=record.free,
        events=tuple(_events(record, paged, words)),
        cached=record.cached,
    )


def _paged(
    record: TickRecord,
    written: dict[str, int],
    reasons: dict[int, Reason],
    service: Service,
    words: Catalogue,
) -> tuple[Page, ...]:
    """Every page of the pool by its number; of an unlimited pool, up to the last one in use."""
    size = service.page_size
    owners: dict[int, list[str]] = {}
    filled: dict[int, int] = {}
    for key, table in record.pages.items():
        for place, page in enumerate(table):
            owners.setdefault(page, []).append(key)
            filled.setdefault(page, min(size, max(0, written[key] - place * size)))
    total = service.pages if service.pages is not None else max(owners, default=-1) + 1
    never = Reason("page_never")
    return tuple(
        Page(
            owner=next(iter(owners.get(page, ())), None),
            written=filled.get(page, 0),
            slots=size,
            why=sentence(reasons.get(page, never), words),
            sharers=tuple(owners.get(page, ())[1:]),
            cached=reasons.get(page, never).code == "page_cached",
        )
        for page in range(total)
    )


def _runs(
    record: TickRecord,
    written: dict[str, int],
    reasons: dict[int, Reason],
    service: Service,
    words: Catalogue,
) -> tuple[Page, ...]:
    """The pool from the left as runs of slots with one owner, or with none."""
    owners = {slot: key for key, table in record.pages.items() for slot in table}
    parts = groupby(range(service.slots or 0), key=owners.get)
    runs = [(owner, list(slots)) for owner, slots in parts]
    return tuple(_run(owner, slots, written.get(owner or "", 0), reasons, words) for owner, slots in runs)


def _run(
    owner: str | None, slots: list[int], written: int, reasons: dict[int, Reason], words: Catalogue
) -> Page:
    count = len(slots)
    if owner is None:
        return Page(None, 0, count, sentence(Reason("run_free", have=count), words))
    if not written:
        return Page(owner, 0, count, sentence(reasons[slots[0]], words))
    return Page(owner, written, count, sentence(Reason("page_written", (owner,), written, count), words))


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
