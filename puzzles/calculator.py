"""Arithmetic that needs no run: the KV of a token, for named models too, and rounds of speculation."""

from __future__ import annotations

from fractions import Fraction

import msgspec

from engine import InputError
from engine.requests import count


class Shape(msgspec.Struct, frozen=True):
    """What decides the KV of one token.

    ``kv_heads`` of ``head_dim`` each, in ``layers``; ``bytes`` per number. ``latent`` (MLA): one compressed
    vector of so many numbers per layer is kept instead of keys and values. ``heads`` (query heads) and
    ``hidden`` decide nothing here; they are what people compute with by mistake.
    Raises InputError for a number that is no whole number of at least 1.
    """

    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    hidden: int
    bytes: int = 2
    latent: int | None = None

    def __post_init__(self) -> None:
        for name in ("layers", "heads", "kv_heads", "head_dim", "hidden", "bytes"):
            count(getattr(self, name), name)
        if self.latent is not None:
            count(self.latent, "latent")

    @property
    def per_token(self) -> int:
        """Bytes of K and V of one token, over all layers."""
        numbers = self.latent if self.latent is not None else 2 * self.kv_heads * self.head_dim
        return self.layers * numbers * self.bytes

    def of(self, tokens: int) -> int:
        """Bytes of ``tokens`` tokens."""
        return self.per_token * count(tokens, "tokens")


# Published shapes; the first is a plain transformer of 32 layers and width 4096.
MODELS = {
    "plain_7b": Shape(layers=32, heads=32, kv_heads=32, head_dim=128, hidden=4096),
    "llama_3_8b": Shape(layers=32, heads=32, kv_heads=8, head_dim=128, hidden=4096),
    "llama_3_70b": Shape(layers=80, heads=64, kv_heads=8, head_dim=128, hidden=8192),
    "qwen3_32b": Shape(layers=64, heads=64, kv_heads=8, head_dim=128, hidden=5120),
    "qwen3_0_6b": Shape(layers=28, heads=16, kv_heads=8, head_dim=128, hidden=1024),
    "qwen3_4b": Shape(layers=36, heads=32, kv_heads=8, head_dim=128, hidden=2560),
    "qwen3_14b": Shape(layers=40, heads=40, kv_heads=8, head_dim=128, hidden=5120),
    "mistral_7b": Shape(layers=32, heads=32, kv_heads=8, head_dim=128, hidden=4096),
    "deepseek_v3": Shape(layers=61, heads=128, kv_heads=128, head_dim=128, hidden=7168, latent=576),
}


def model(name: str) -> Shape:
    """The shape of a named model. Raises InputError for an unknown one."""
    if name not in MODELS:
        raise InputError(f"model {name!r} is not one of {', '.join(MODELS)}")
    return MODELS[name]


SHAPE = ("layers", "heads", "kv_heads", "head_dim", "hidden", "bytes")
FIGURES = (*SHAPE, "per_token")


WEIGHT_BITS = {"fp16": 16, "int8": 8, "int4": 4}
SCALE_BITS, GROUP = 16, 32  # int4 keeps one scale for so many weights; int8 one per channel: too few to count


def weight_bytes(parameters: Fraction, form: str) -> Fraction:
    """Bytes of so many weights in fp16, int8 or int4, the scales of int4 included. Raises InputError."""
    if form not in WEIGHT_BITS:
        raise InputError(f"format {form!r} is not one of {', '.join(WEIGHT_BITS)}")
    scales = Fraction(SCALE_BITS, GROUP) if form == "int4" else Fraction(0)
    return parameters * (WEIGHT_BITS[form] + scales) / 8


def speedup(acceptance: Fraction, guesses: int, cost: Fraction) -> Fraction:
    """Tokens per round over the cost of a round: one step, and ``cost`` of a step for each guess."""
    return tokens_per_round(acceptance, guesses) / (1 + guesses * cost)


def little(present: Fraction | None, rate: Fraction | None, stay: Fraction | None) -> Fraction:
    """The one of L, λ and W that is None, from L = λW. Raises ZeroDivisionError, and ValueError
    when not exactly one is None."""
    if present is None and rate is not None and stay is not None:
        return rate * stay
    if rate is None and present is not None and stay is not None:
        return present / stay
    if stay is None and present is not None and rate is not None:
        return present / rate
    raise ValueError("exactly one of L, λ and W must be None")


def tokens_per_round(acceptance: Fraction, guesses: int) -> Fraction:
    """Mean tokens of a round that tries ``guesses``, each right with probability ``acceptance``.

    1 + a + … + a^k: the first token is always right, and each guess counts only when all before it do.
    """
    return sum((acceptance**place for place in range(guesses + 1)), Fraction(0))
