"""What a run changes in the trace: who is left out, who comes when, who has other lengths."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import msgspec

from engine import InputError, Request


class Edits(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """``drop`` leaves requests out. ``order`` hands the arrival times to these ids, the first to the first.
    ``spread`` multiplies the arrival times, ``prompts`` and ``outputs`` set lengths in tokens, by id."""

    drop: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    spread: Decimal = Decimal(1)
    prompts: dict[str, int] = {}
    outputs: dict[str, int] = {}


def edited(requests: Sequence[Request], edits: Edits, texts: Sequence[str]) -> tuple[Request, ...]:
    """``requests`` with ``edits``; a longer prompt goes on with ``texts``."""
    kept = [_resized(request, edits, texts) for request in requests if request.id not in edits.drop]
    if edits.order:
        by_id = {request.id: request for request in kept}
        arrivals = [request.arrival for request in kept]
        kept = [
            msgspec.structs.replace(by_id[key], arrival=arrival)
            for key, arrival in zip(edits.order, arrivals, strict=True)
        ]
    if edits.spread != 1:
        kept = [msgspec.structs.replace(one, arrival=one.arrival * edits.spread) for one in kept]
    return tuple(kept)


def _resized(request: Request, edits: Edits, texts: Sequence[str]) -> Request:
    prompt = edits.prompts.get(request.id, request.prompt_tokens)
    output = edits.outputs.get(request.id, request.output_tokens)
    if (prompt, output) == (request.prompt_tokens, request.output_tokens):
        return request
    text = " ".join([str(request.prompt or ""), *texts]).strip()
    return Request(request.id, request.arrival, prompt, output, text[:prompt], request.priority)


def check_edits(requests: Sequence[Request], edits: Edits, where: str) -> None:
    """Raise InputError when an edit names a request that is not there, or an order is not complete."""
    known = [request.id for request in requests]
    for key in (*edits.drop, *edits.order, *edits.prompts, *edits.outputs):
        if key not in known:
            raise InputError(f"{where}: request {key!r} is not one of {', '.join(known)}")
    kept = [key for key in known if key not in edits.drop]
    if edits.order and sorted(edits.order) != sorted(kept):
        raise InputError(f"{where}: order does not name each of {', '.join(kept)} once")
