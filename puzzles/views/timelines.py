"""The timeline: a row per request, a cell per tick."""

from __future__ import annotations

from engine import History, TickRecord
from engine.words import Catalogue
from puzzles.views.common import colours, title, why
from puzzles.views.model import Cell, Row, Timeline


def timeline(history: History, name: str, words: Catalogue) -> Timeline:
    """The run ``name`` as rows of cells."""
    palette = colours(history)
    return Timeline(
        name=name,
        title=title(name, words),
        tick_seconds=float(history.service.tick),
        rows=tuple(_row(history, key, palette[key], words) for key in history.requests),
        ms=tuple(record.work.ms if record.work else None for record in history.records),
    )


def _row(history: History, key: str, colour: int, words: Catalogue) -> Row:
    request = history.requests[key]
    return Row(
        id=key,
        colour=colour,
        arrival=float(request.arrival),
        prompt_tokens=request.prompt_tokens,
        output_tokens=request.output_tokens,
        cells=_cells(history, key, words),
    )


def _cells(history: History, key: str, words: Catalogue) -> tuple[Cell, ...]:
    cells, arrived = [], False
    for record in history.records:
        arrived = arrived or key in record.arrived or key in record.cancelled  # or called off before
        kind = kind_of(record, key)
        letter, sentence = words(f"cell.{kind}.letter"), why(record, key, arrived, words)
        cells.append(Cell(record.tick, kind, letter, sentence, tokens_in(record, key)))
    return tuple(cells)


def tokens_in(record: TickRecord, key: str) -> int:
    """Tokens of ``key`` processed in this tick: prompt tokens, or one for each decoded."""
    prompt = sum(count for name, _, count, _ in record.prefill if name == key)
    return prompt + sum(count for name, count in record.decode if name == key)


def kind_of(record: TickRecord, key: str) -> str:
    """What ``key`` did in this tick, one of ``model.CELL_KINDS``."""
    for kind in ("refused", "cancelled", "preempted"):
        if key in getattr(record, kind):
            return kind
    return _work(record, key) or _wait(record, key)


def _work(record: TickRecord, key: str) -> str | None:
    """The kind of a request that processed tokens, else None."""
    indexes = [index for name, index, _ in record.emitted if name == key]
    finish = dict(record.finished).get(key)
    if finish is not None:
        return "failed" if finish == "failed" else "last"
    for name, _, _, recompute in record.prefill:
        if name == key:
            return "recompute" if recompute else "first" if 0 in indexes else "prefill"
    return "decode" if key in dict(record.decode) else None


def _wait(record: TickRecord, key: str) -> str:
    """The kind of a request that processed nothing."""
    if key in record.waiting:
        return "waiting"
    if key not in record.active:
        return "away"
    reason = dict(record.blocked).get(key)
    return "seat" if reason is not None and reason.code == "seat_held" else "blocked"
