"""Runs in the Trace Event Format, which Perfetto and chrome://tracing open.

A process per run, a thread per request, a complete event per request and tick, counters for the queue
and the KV cache. Times are microseconds of the run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from engine.history import History
from engine.records import TickRecord, to_json
from engine.scheduling.explain import explain, sentence
from engine.words import Catalogue

MICROSECONDS = 1_000_000
Event = dict[str, Any]


def chrome_trace(histories: Mapping[str, History], words: Catalogue) -> bytes:
    """The JSON object of ``histories`` by name, its reasons in the language of ``words``."""
    events = [
        event
        for process, (name, history) in enumerate(histories.items(), 1)
        for event in run_events(process, name, history, words)
    ]
    return to_json({"traceEvents": events, "displayTimeUnit": "ms"})


def run_events(process: int, name: str, history: History, words: Catalogue) -> Iterator[Event]:
    """Every event of one run, its process called ``name``."""
    threads = {key: place for place, key in enumerate(history.requests, 1)}
    yield from _names(process, name, threads)
    length = Fraction(history.service.tick) * MICROSECONDS
    for key, request in history.requests.items():
        moment = Fraction(request.arrival) * MICROSECONDS
        if moment <= len(history.records) * length:
            yield from _arrival(process, threads[key], request, moment, length)
    for record in history.records:
        start = record.tick * length
        for key in _present(record):
            yield _work(process, threads[key], record, key, start, length, words)
        yield from _counters(process, record, start)
    if history.records:
        yield from _end(process, (history.records[-1].tick + 1) * length)


def _names(process: int, name: str, threads: Mapping[str, int]) -> Iterator[Event]:
    """What the process and its threads are called, and in which order they stand."""
    yield _about(process, 0, "process_name", {"name": name})
    yield _about(process, 0, "process_sort_index", {"sort_index": process})
    for key, thread in threads.items():
        yield _about(process, thread, "thread_name", {"name": key})
        yield _about(process, thread, "thread_sort_index", {"sort_index": thread})


def _about(process: int, thread: int, name: str, values: Mapping[str, Any]) -> Event:
    return {"ph": "M", "pid": process, "tid": thread, "ts": 0, "name": name, "args": dict(values)}


def _arrival(process: int, thread: int, request: Any, moment: Fraction, length: Fraction) -> Iterator[Event]:
    """The arrival, and the wait for the tick in which it is seen."""
    lengths = {"prompt_tokens": request.prompt_tokens, "output_tokens": request.output_tokens}
    place = {"pid": process, "tid": thread, "ts": _plain(moment)}
    yield {"ph": "i", "s": "t", "cat": "arrival", "name": "arrival", **place, "args": lengths}
    wait = -moment % length
    if wait:
        yield {"ph": "X", "cat": "queue", "name": "queue", **place, "dur": _plain(wait), "args": {}}


def _present(record: TickRecord) -> list[str]:
    """Who is in the system in this tick, the queue last; those who leave at its start are still told."""
    return list(dict.fromkeys((*record.active, *record.preempted, *record.waiting, *record.refused)))


def _work(
    process: int,
    thread: int,
    record: TickRecord,
    key: str,
    start: Fraction,
    length: Fraction,
    words: Catalogue,
) -> Event:
    """What ``key`` did in this tick: its tokens, its pages, and why."""
    name = _name(record, key)
    values = {
        "tick": record.tick,
        "prompt_tokens": sum(count for one, _, count, _ in record.prefill if one == key),
        "output_tokens": [index + 1 for one, index, _ in record.emitted if one == key],
        "pages": list(record.pages.get(key, ())),
        "why": sentence(explain(record, key), words),
    }
    span = {"pid": process, "tid": thread, "ts": _plain(start), "dur": _plain(length)}
    return {"ph": "X", "cat": name, "name": name, **span, "args": values}


def _name(record: TickRecord, key: str) -> str:
    """The kind of a request's tick."""
    if key in record.refused:
        return "refused"
    if key in record.preempted:
        return "preempted"
    for one, _, _, recompute in record.prefill:
        if one == key:
            return "recompute" if recompute else "prefill"
    if key in dict(record.decode):
        return "decode"
    return "queue" if key in record.waiting else "held"


def _counters(process: int, record: TickRecord, start: Fraction) -> Iterator[Event]:
    yield _counter(process, "backlog", start, {"waiting": len(record.waiting)})
    for name in ("held", "reserved", "written"):
        yield _counter(process, f"KV {name}", start, {"tokens": getattr(record, name)})


def _end(process: int, moment: Fraction) -> Iterator[Event]:
    """A counter keeps its last value for ever unless it is told to be 0."""
    yield _counter(process, "backlog", moment, {"waiting": 0})
    for name in ("held", "reserved", "written"):
        yield _counter(process, f"KV {name}", moment, {"tokens": 0})


def _counter(process: int, name: str, moment: Fraction, values: Mapping[str, int]) -> Event:
    place = {"pid": process, "tid": 0, "ts": _plain(moment)}
    return {"ph": "C", "cat": "counter", "name": name, **place, "args": dict(values)}


def _plain(moment: Fraction) -> int | float:
    """Microseconds as a JSON number, whole where they are whole."""
    return moment.numerator if moment.denominator == 1 else float(moment)
