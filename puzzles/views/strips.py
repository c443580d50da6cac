"""The strip of three ledgers: prefill, decode slots, KV."""

from __future__ import annotations

from engine import History, Service, TickRecord
from engine.words import Catalogue
from puzzles.views.common import title
from puzzles.views.model import Gauge, Strip


def strip(history: History, name: str, words: Catalogue) -> Strip:
    """The three ledgers of the run ``name``, tick by tick."""
    frames = tuple(_gauge(record, history.service) for record in history.records)
    return Strip(name, title(name, words), frames)


def _gauge(record: TickRecord, service: Service) -> Gauge:
    return Gauge(
        tick=record.tick,
        prefill=sum(count for _, _, count, _ in record.prefill),
        prefill_budget=service.prefill_budget,
        decode=len(record.decode),
        decode_slots=service.decode_slots,
        held=record.held,
        pool=service.slots,
        waiting=len(record.waiting),
    )
