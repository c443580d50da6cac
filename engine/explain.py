"""Why a request did, or did not, go on in a tick: one Reason, derived from the record."""

from __future__ import annotations

from engine.records import Reason, TickRecord
from engine.words import Catalogue


def explain(record: TickRecord, key: str) -> Reason:
    """The Reason for ``key`` in ``record``: recorded for the head and the active, derived for the rest."""
    for name, reason in record.blocked:
        if name == key:
            return reason
    if key in record.cancelled:
        return Reason("cancelled")
    if key in record.waiting:
        return Reason("behind", by=(record.waiting[0],), have=record.waiting.index(key))
    return _progress(record, key)


def _progress(record: TickRecord, key: str) -> Reason:
    """What a request did that was not held back."""
    indexes = [index for name, index, _ in record.emitted if name == key]
    if key in dict(record.finished):
        return Reason("finished", have=indexes[-1] + 1 if indexes else 0)
    for name, start, count, recompute in record.prefill:
        if name != key:
            continue
        if recompute:
            return Reason("recompute", have=count, need=start)
        return Reason("first_token" if indexes else "prefill", have=count, need=start)
    if indexes:
        return Reason("decode", have=indexes[-1] + 1)
    return Reason("ended" if key not in record.active else "idle")


def sentence(reason: Reason, words: Catalogue) -> str:
    """``reason`` in words, one sentence, in the language of ``words``."""
    by = words("list.separator").join(reason.by) or words("list.nobody")
    have = "" if reason.have is None else reason.have
    need = "" if reason.need is None else reason.need
    return words(f"reason.{reason.code}", by=by, have=have, need=need)
