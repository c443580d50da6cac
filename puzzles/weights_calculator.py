"""Parameters of named models from their published shapes, and the bytes of their weights."""

from __future__ import annotations

from fractions import Fraction

import msgspec

from puzzles.calculator import MODELS

SCALED = 32  # weights that share a scale of 16 bits in int4
BITS = {"fp16": Fraction(16), "int8": Fraction(8), "int4": 4 + Fraction(16, SCALED)}
"""Bits of a weight with its share of the scales; one scale per row of int8 is next to nothing."""


class Size(msgspec.Struct, frozen=True):
    """What decides the number of parameters beside ``calculator.Shape``.

    ``inner`` is the width of the feed-forward block (gate, up and down), ``tied``: embedding and head are one
    matrix. ``stated`` is the number that the model's own page states, in billions.
    """

    inner: int
    vocabulary: int
    tied: bool
    stated: str


# From each model's config.json, and the number of parameters its card states.
SIZES = {
    "plain_7b": Size(11008, 32000, False, "6.74"),
    "llama_3_8b": Size(14336, 128256, False, "8.03"),
    "llama_3_70b": Size(28672, 128256, False, "70.6"),
    "qwen3_0_6b": Size(3072, 151936, True, "0.6"),
    "qwen3_4b": Size(9728, 151936, True, "4.0"),
    "qwen3_14b": Size(17408, 151936, False, "14.8"),
    "qwen3_32b": Size(25600, 151936, False, "32.8"),
    "mistral_7b": Size(14336, 32000, False, "7.24"),
}


def parameters(name: str) -> int:
    """Numbers of a model's matrices; norms, a few thousand, are left out. Raises KeyError."""
    shape, size = MODELS[name], SIZES[name]
    attention = 2 * shape.hidden * shape.head_dim * (shape.heads + shape.kv_heads)
    layer = attention + 3 * shape.hidden * size.inner
    return shape.layers * layer + (1 if size.tied else 2) * size.vocabulary * shape.hidden


def weight_bytes(name: str, format: str) -> Fraction:
    """Bytes of the weights when all are stored in ``format``, scales included. Raises KeyError."""
    return parameters(name) * BITS[format] / 8
