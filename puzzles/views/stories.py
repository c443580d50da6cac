"""The run told per request: what it did for how long, and why. Ticks with the same reason are one line."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import msgspec

from engine import History, Reason, TickRecord, explain
from engine.scheduling.explain import sentence
from engine.words import Catalogue, engine_words
from puzzles.views.common import colours, title
from puzzles.views.logs import concerned


class Span(msgspec.Struct, frozen=True):
    """Ticks ``first`` to ``last`` of one request."""

    id: str
    colour: int
    first: int
    last: int
    sentence: str


class Story(msgspec.Struct, frozen=True):
    """One run, request by request."""

    name: str
    title: str
    spans: tuple[Span, ...]


def story(history: History, name: str, words: Catalogue) -> Story:
    """The run ``name`` as spans, in the order of the trace."""
    palette = colours(history)
    spans = (
        Span(key, palette[key], records[0].tick, records[-1].tick, _sentence(records, key, words))
        for key in history.requests
        for records in _alike(history, key)
    )
    return Story(name, title(name, words), tuple(spans))


def _alike(history: History, key: str) -> Iterator[list[TickRecord]]:
    """The ticks in which ``key`` is there, grouped while its reason stays the same."""
    present = [record for record in history.records if concerned(record, key)]
    for _, group in groupby(present, key=lambda record: _kind(explain(record, key))):
        yield list(group)


def _kind(reason: Reason) -> Reason:
    """What makes two ticks alike: for decodes, that they are decodes."""
    return Reason("decode") if reason.code == "decode" else reason


def _sentence(records: list[TickRecord], key: str, words: Catalogue) -> str:
    """The sentence of the span; of several decodes, which tokens came out."""
    first, last = explain(records[0], key), explain(records[-1], key)
    if first.code == "decode" and len(records) > 1:
        return words("story.decodes", first=first.have, last=last.have)
    return sentence(first, engine_words(words.language))
