"""Why a request did, or did not, go on in a tick: one Reason, derived from the record."""

from __future__ import annotations

from engine.records import Reason, TickRecord
from engine.words import Catalogue


def explain(record: TickRecord, key: str) -> Reason:
    """The Reason for ``key`` in ``record``: recorded for the head and the active, derived for the rest.

    A record does not know who is still to come: a request that is not in it has the code “ended”.
    ``sentence(reason, engine.words.engine_words("en"))`` says it in words.
    """
    for name, reason in record.blocked:
        if name == key:
            return reason
    if key in record.cancelled:
        return Reason("cancelled")
    if key in record.waiting:
        return _waiting(record, key)
    return _progress(record, key)


def _waiting(record: TickRecord, key: str) -> Reason:
    """Behind the head, unless all of them are held back for the same reason."""
    head = dict(record.blocked).get(record.waiting[0])
    if head is not None and head.code == "filling_batch":
        return head
    return Reason("behind", by=(record.waiting[0],), have=record.waiting.index(key))


def _progress(record: TickRecord, key: str) -> Reason:
    """What a request did that was not held back."""
    indexes = [index for name, index, _ in record.emitted if name == key]
    finish = dict(record.finished).get(key)
    if finish is not None:
        return Reason("failed") if finish == "failed" else Reason("finished", have=indexes[-1] + 1)
    for name, start, count, recompute in record.prefill:
        if name == key:
            return _prefill(start, count, recompute, indexes)
    if indexes:
        return Reason("decode", have=indexes[-1] + 1)
    return Reason("idle" if key in record.active else "ended")


def _prefill(start: int, count: int, recompute: bool, indexes: list[int]) -> Reason:
    """A chunk of the prompt, or of what a preemption has lost; the last one brings a token."""
    if not indexes:
        return Reason("recompute" if recompute else "prefill", have=count, need=start + count)
    if indexes[0] == 0:
        return Reason("first_token", have=count)
    return Reason("recomputed", have=count, need=indexes[-1] + 1)


def sentence(reason: Reason, words: Catalogue) -> str:
    """``reason`` in words, one sentence, in the language of ``words``."""
    by = words("list.separator").join(reason.by) or words("list.nobody")
    have = "" if reason.have is None else reason.have
    need = "" if reason.need is None else reason.need
    return words(f"reason.{reason.code}", by=by, have=have, need=need)
