"""Other ways to a smaller model or cache, with the same figures as the weight formats."""

from __future__ import annotations

from engine.model.transformer import Transformer
from engine.model.weights import load_preset, read_checked
from engine.quantize.calibration import calibration_windows
from engine.quantize.compare import HELD_OUT_BYTES, Comparison, comparison
from engine.quantize.kv_quality import KVResult, kv_comparison
from engine.quantize.pruning import prune_hidden, prune_two_of_four, prune_weights
from engine.training.texts import HELD_OUT_FILE

KV_TEXT = 384
"""Bytes of held-out text on which scale modes are compared."""


def smaller_models(
    model: Transformer | None = None,
    student: Transformer | None = None,
    held_out_bytes: int | None = HELD_OUT_BYTES,
) -> Comparison:
    """The model beside pruned versions of itself and the one-layer `student` that was distilled from it.

    Raises `BrokenWeights` when trained weights are missing.
    """
    model = model or load_preset("tiny")
    others = {
        "25 % of weights zero": prune_weights(model, 0.25),
        "50 % of weights zero": prune_weights(model, 0.5),
        "2 of 4 weights zero": prune_two_of_four(model),
        "25 % of hidden units gone": prune_hidden(model, 0.25),
        "50 % of hidden units gone": prune_hidden(model, 0.5),
        "student of one layer": student or load_preset("draft"),
    }
    return comparison(formats=["fp32"], model=model, others=others, held_out_bytes=held_out_bytes)


def smaller_caches(model: Transformer | None = None) -> list[KVResult]:
    """8-bit keys and values by where their scale comes from, on the beginning of the held-out text."""
    text = read_checked(HELD_OUT_FILE)[:KV_TEXT]
    return kv_comparison(model or load_preset("tiny"), list(text), calibration_windows().tolist())
