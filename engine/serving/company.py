"""Does it matter who shares the tick? Requests alone and in company, bit by bit."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import torch

from engine.model.transformer import Transformer
from engine.requests import Request
from engine.service import Service
from engine.serving.engine import Engine

COMPANY = Service()
ALONE = Service(policy="immediate")


class Invariance(msgspec.Struct, frozen=True):
    """One request, alone beside in company. ``first`` is the index of the first output token whose logits
    differ in any bit (None: none does), ``difference`` the largest |Δlogit|, ``margin`` the smallest lead
    of a chosen token over the next one, ``same_tokens`` whether the text is the same.
    """

    mode: str
    id: str
    first: int | None
    difference: float
    margin: float
    same_tokens: bool


def invariances(model: Transformer, trace: Sequence[Request]) -> list[Invariance]:
    """Every request of `trace` alone and with the others, in fast and in exact mode."""
    return [row for exact in (False, True) for row in _rows(model, trace, exact=exact)]


def _rows(model: Transformer, trace: Sequence[Request], *, exact: bool) -> list[Invariance]:
    company, alone = (logits(model, trace, service, exact=exact) for service in (COMPANY, ALONE))
    mode = "exact" if exact else "fast"
    return [compare(mode, key, company[key], alone[key]) for key in company]


def logits(
    model: Transformer, trace: Sequence[Request], service: Service, *, exact: bool
) -> dict[str, torch.Tensor]:
    """The logits (tokens, vocabulary) from which each request's tokens were chosen, by id."""
    engine = Engine(service, exact=exact, model=model)
    for request in trace:
        engine.submit(
            request.prompt or "", request.output_tokens, request_id=request.id, arrival=request.arrival
        )
    engine.close()
    found: dict[str, list[torch.Tensor]] = {request.id: [] for request in trace}
    while engine.live:
        engine.step()
        for key, rows in engine.executor.logits.items():
            found[key].append(rows)
    return {key: torch.cat(rows) for key, rows in found.items()}


def compare(mode: str, key: str, company: torch.Tensor, alone: torch.Tensor) -> Invariance:
    """Two runs of one request, logits (tokens, vocabulary) each."""
    differs = (company != alone).any(-1).nonzero().flatten().tolist()
    lead = alone.topk(2, -1).values
    return Invariance(
        mode=mode,
        id=key,
        first=differs[0] if differs else None,
        difference=float((company - alone).abs().max()),
        margin=float((lead[:, 0] - lead[:, 1]).min()),
        same_tokens=bool((company.argmax(-1) == alone.argmax(-1)).all()),
    )
