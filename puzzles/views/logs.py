"""The run in words: a sentence per event of each tick, and the text so far."""

from __future__ import annotations

from collections.abc import Iterator

from engine import History, TickRecord
from engine.words import Catalogue
from puzzles.views.common import title, why
from puzzles.views.model import Log, LogFrame
from puzzles.views.speech import Speaker
from puzzles.words import plain


def log(history: History, name: str, words: Catalogue) -> Log:
    """The run ``name`` as sentences. Requests are named in the order of the trace."""
    return Log(name, title(name, words), tuple(_frames(history, words)))


def _frames(history: History, words: Catalogue) -> Iterator[LogFrame]:
    speakers = {key: Speaker(request) for key, request in history.requests.items()}
    for record in history.records:
        for key, speaker in speakers.items():
            speaker.hear(token for name, _, token in record.emitted if name == key)
        speech = tuple(speaker.said() for speaker in speakers.values())
        yield LogFrame(record.tick, tuple(_lines(record, history, words)), speech)


def _lines(record: TickRecord, history: History, words: Catalogue) -> Iterator[str]:
    """Who arrived and who was admitted; then, for everybody concerned, what happened and why."""
    for key in record.arrived:
        yield words("log.arrived", id=key, seconds=plain(history.requests[key].arrival))
    for key in record.admitted:
        yield words("log.admitted", id=key)
    for key in history.requests:
        if concerned(record, key):
            yield words("log.line", id=key, sentence=why(record, key, True, words))


def concerned(record: TickRecord, key: str) -> bool:
    """Whether ``key`` is in the system in this tick, or left it here."""
    groups = (record.waiting, record.active, record.refused, record.cancelled, record.preempted)
    return any(key in group for group in groups)
