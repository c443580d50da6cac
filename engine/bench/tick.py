"""A whole tick beside the matrix products it cannot do without."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from engine.bench.load import SERVICE, requests_of
from engine.bench.paper import micro, page, ratio
from engine.bench.setting import Setting
from engine.bench.timing import median, paired_ratio, seconds
from engine.model.speed import bare_products
from engine.model.transformer import Transformer
from engine.serving.engine import Engine
from engine.words import Catalogue

NAME = "tick"
DECODES, CONTEXTS = (1, 3, 8), (64, 192)
SPAN = 10  # ticks timed with one engine, around the context


class Tick(msgspec.Struct, frozen=True):
    """Median seconds of one tick in which ``decodes`` requests of ``context`` tokens get one token each.

    ``tick`` is the whole step of the engine in fast mode (scheduler, forward, delivery), ``forward``
    the executor's part, ``exact`` a whole step in exact mode; ``bare`` are the tick's matrix products
    alone, attention's included, the same shapes on operands that lie ready.
    """

    decodes: int
    context: int
    tick: float
    forward: float
    exact: float
    bare: float
    ratio: float
    exact_ratio: float


def measure(setting: Setting) -> tuple[Tick, ...]:
    """All numbers of decodes at all contexts that the model can hold."""
    contexts = [context for context in CONTEXTS if context + SPAN <= setting.model.config.context]
    return tuple(
        _measure(setting.model, decodes, context, setting.ticks)
        for context in contexts
        for decodes in DECODES
    )


def _measure(model: Transformer, decodes: int, context: int, ticks: int) -> Tick:
    samples = [sample for _ in range(-(-ticks // SPAN)) for sample in _samples(model, decodes, context)]
    tick, forward, exact, bare = zip(*samples, strict=True)
    return Tick(
        decodes=decodes,
        context=context,
        tick=median(tick),
        forward=median(forward),
        exact=median(exact),
        bare=median(bare),
        ratio=paired_ratio(tick, bare),
        exact_ratio=paired_ratio(exact, bare),
    )


def _samples(model: Transformer, decodes: int, context: int) -> Iterator[tuple[float, float, float, float]]:
    """Seconds of a fast step, its forward, an exact step and the bare products, in turn."""
    products = bare_products(model, decodes, context)
    fast, exact = (_ready(model, decodes, context, exact=exact) for exact in (False, True))
    products()
    for _ in range(SPAN):
        step = seconds(fast.step)
        work = fast.history.records[-1].work
        assert work is not None
        yield step, work.ms / 1000, seconds(exact.step), seconds(products)


def _ready(model: Transformer, decodes: int, context: int, *, exact: bool) -> Engine:
    """An engine whose next ``SPAN`` steps are decodes of all requests, at ``context`` in the middle."""
    service = SERVICE.replace(prefill_budget=decodes * context, decode_slots=decodes, max_active=decodes)
    engine = Engine(service, exact=exact, model=model)
    for request in requests_of([(context - SPAN // 2, SPAN + 1)] * decodes):
        engine.submit(request.prompt or "", request.output_tokens)
    engine.step()
    return engine


COLUMNS = "decodes context tick_us forward_us bare_us ratio exact_us exact_ratio"


def tell(result: tuple[Tick, ...], words: Catalogue) -> str:
    """The section as text."""
    rows = [
        (
            str(row.decodes),
            str(row.context),
            micro(row.tick),
            micro(row.forward),
            micro(row.bare),
            ratio(row.ratio),
            micro(row.exact),
            ratio(row.exact_ratio),
        )
        for row in result
    ]
    return page(words, NAME, COLUMNS, rows)
