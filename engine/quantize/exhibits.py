"""Other ways to a smaller model or cache, with the same figures as the weight formats."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from torch import nn

from engine.model.transformer import Transformer
from engine.model.weights import load_preset, read_checked
from engine.quantize.calibration import calibration_windows
from engine.quantize.compare import HELD_OUT_BYTES, Comparison, FormatResult, comparison
from engine.quantize.inventory import stored
from engine.quantize.kv_quality import KVResult, kv_comparison
from engine.quantize.pruning import prune_hidden, prune_two_of_four, prune_weights, sparse_bytes, zero_share
from engine.quantize.speed import decode_speeds
from engine.training.texts import HELD_OUT_FILE

KV_TEXT = 384
"""Bytes of held-out text on which scale modes are compared."""

WAYS: dict[str, Callable[[Transformer], Transformer]] = {
    "zero-25": lambda model: prune_weights(model, 0.25),
    "zero-50": lambda model: prune_weights(model, 0.5),
    "zero-2-of-4": prune_two_of_four,
    "units-25": lambda model: prune_hidden(model, 0.25),
    "units-50": lambda model: prune_hidden(model, 0.5),
    "student": lambda model: load_preset("draft"),
}
"""By name: that per cent of the weights set to zero (those of smallest magnitude, or two of every
four), that per cent of the hidden units removed, and the one-layer student distilled from it."""


class Smaller(msgspec.Struct, frozen=True):
    """One way to a smaller model (`original` for the model itself).

    `zeros` is the share of the linear layers' weights that are zero, `total_bytes` what the model
    takes, `sparse_bytes` what it would take if zeros were left out and a bit per weight said where
    they are. `largest` and `mean` are |Δlogit|, teacher-forced over `tokens` tokens, `changed` of
    which would be chosen otherwise; `loss` is nats per byte of held-out text; `milliseconds` those
    of a decode step of one request.
    """

    name: str
    zeros: float
    total_bytes: int
    sparse_bytes: int
    largest: float
    mean: float
    changed: int
    tokens: int
    loss: float
    milliseconds: float


class CacheMode(msgspec.Struct, frozen=True):
    """8-bit keys and values by where the scale comes from: the figures of a `KVResult` in short.

    `changed` of `tokens` positions would choose another token.
    """

    mode: str
    bytes: int
    ratio: float
    key_error: float
    value_error: float
    largest: float
    mean: float
    changed: int
    tokens: int


def smaller_models(
    model: Transformer | None = None,
    held_out_bytes: int | None = HELD_OUT_BYTES,
) -> Comparison:
    """The model beside the results of all `WAYS`. Raises `BrokenWeights` when trained weights are
    missing."""
    model = model or load_preset("tiny")
    others = {name: make(model) for name, make in WAYS.items()}
    return comparison(formats=["fp32"], model=model, others=others, held_out_bytes=held_out_bytes)


def smaller_rows(model: Transformer, held_out_bytes: int | None = HELD_OUT_BYTES) -> list[Smaller]:
    """`smaller_models` in short, with sparsity and speed."""
    models = {"original": model} | {name: make(model) for name, make in WAYS.items()}
    speeds = {speed.format: speed.milliseconds for speed in decode_speeds(models, (1,))}
    others = {name: one for name, one in models.items() if name != "original"}
    results = comparison(formats=["fp32"], model=model, others=others, held_out_bytes=held_out_bytes).formats
    return [
        _smaller(name, models[name], result, speeds[name])
        for name, result in zip(models, results, strict=True)
    ]


def _smaller(name: str, model: Transformer, result: FormatResult, milliseconds: float) -> Smaller:
    forced = result.forced
    weights = [module.weight for module in model.modules() if isinstance(module, nn.Linear)]
    return Smaller(
        name,
        zero_share(model),
        result.total_bytes,
        stored(model).other + sum(map(sparse_bytes, weights)),
        max(token.largest for token in forced),
        sum(token.mean for token in forced) / len(forced),
        sum(token.changed for token in forced),
        len(forced),
        result.held_out.loss,
        milliseconds,
    )


def smaller_caches(model: Transformer | None = None) -> list[KVResult]:
    """8-bit keys and values by where their scale comes from, on the beginning of the held-out text."""
    text = read_checked(HELD_OUT_FILE)[:KV_TEXT]
    return kv_comparison(model or load_preset("tiny"), list(text), calibration_windows().tolist())


def cache_modes(model: Transformer) -> list[CacheMode]:
    """`smaller_caches` in short."""
    return [_cache_mode(result) for result in smaller_caches(model)]


def _cache_mode(result: KVResult) -> CacheMode:
    count = len(result.tokens)
    return CacheMode(
        result.mode,
        result.bytes,
        result.ratio,
        result.key_error,
        result.value_error,
        result.largest,
        sum(token.mean for token in result.tokens) / count,
        sum(token.changed for token in result.tokens),
        count,
    )
