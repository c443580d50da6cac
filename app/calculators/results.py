"""What the calculators say: lines of a label, a value, and the arithmetic it comes from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import cast

import msgspec

from app.calculators.fields import OWN, Value, Wrong
from engine.words import Catalogue
from puzzles.calculator import Shape, little, model, speedup, tokens_per_round, weight_bytes

GB = 10**9
MIB, GIB = 2**20, 2**30


class Line(msgspec.Struct, frozen=True):
    """One result: its label, its value with unit, and how it comes about."""

    label: str
    value: str
    how: str = ""


Values = Mapping[str, Value]


def results(calculator: str, values: Values, words: Catalogue) -> list[Line]:
    """The lines of a calculator. Raises Wrong when the values do not go together."""
    return CALCULATE[calculator](values, words)


def kv(values: Values, words: Catalogue) -> list[Line]:
    """KV of one token, of a sequence, of all sequences."""
    shape, tokens, sequences = _shape(values), _whole(values["tokens"]), _whole(values["sequences"])
    one, each = shape.per_token, shape.of(tokens)
    how = f"{shape.layers} × {_numbers(shape)} × {shape.bytes}"
    total = each * sequences
    return [
        Line(words("kv.token"), f"{one:,} B", how),
        Line(words("kv.sequence"), _binary(each), f"{one:,} × {tokens:,}"),
        Line(
            words("kv.all"),
            f"{_binary(total)} = {_short(Fraction(total, GB))} GB",
            f"{sequences:,} × {each:,}",
        ),
    ]


def _numbers(shape: Shape) -> str:
    """The numbers that one layer keeps of a token."""
    return f"{shape.latent}" if shape.latent is not None else f"2 × {shape.kv_heads} × {shape.head_dim}"


def _shape(values: Values) -> Shape:
    """The shape of the chosen model, with the chosen bytes per number."""
    size, name = int(str(values["number"])), str(values["model"])
    if name != OWN:
        return msgspec.structs.replace(model(name), bytes=size)
    layers, heads, width = (_whole(values[key]) for key in ("layers", "kv_heads", "head_dim"))
    latent = None if values["latent"] is None else _whole(values["latent"])
    return Shape(layers, heads, heads, width, heads * width, size, latent)


def fit(values: Values, words: Catalogue) -> list[Line]:
    """Whether the weights fit, and how many tokens of KV the rest of the memory holds."""
    parameters, memory, rest = (_exact(values[name]) for name in ("parameters", "memory", "rest"))
    form, shape = str(values["format"]), model(str(values["kv_model"]))
    weights = weight_bytes(parameters * GB, form) / GB
    left = memory - weights - rest
    per = _short(weight_bytes(Fraction(1), form))
    lines = [
        Line(words("fit.weights"), f"{_short(weights)} GB", f"{_short(parameters)} × 10⁹ × {per} B"),
        Line(
            words("fit.left"), f"{_short(left)} GB", f"{_short(memory)} − {_short(weights)} − {_short(rest)}"
        ),
    ]
    if left < 0:
        return [*lines, Line(words("fit.verdict"), words("fit.no", short=_short(-left)))]
    tokens = int(left * GB / shape.per_token)
    said = words("fit.tokens", count=f"{tokens:,}")
    return [
        *lines,
        Line(words("fit.verdict"), words("fit.yes")),
        Line(words("fit.kv"), said, _kv_how(left, shape)),
    ]


def _kv_how(left: Fraction, shape: Shape) -> str:
    return f"{_short(left)} × 10⁹ ÷ {shape.per_token:,}"


def rounds(values: Values, words: Catalogue) -> list[Line]:
    """Tokens of a round of speculation, and what it gains."""
    acceptance, cost, guesses = (
        _exact(values["acceptance"]),
        _exact(values["cost"]),
        _whole(values["guesses"]),
    )
    tokens, gain = tokens_per_round(acceptance, guesses), speedup(acceptance, guesses, cost)
    a = _short(acceptance)
    sums = f"1 + {a} + … + {a}{_raised(guesses)}" if guesses > 1 else f"1 + {a}"
    told = words("rounds.loses" if gain < 1 else "rounds.gains" if gain > 1 else "rounds.even")
    return [
        Line(words("rounds.tokens"), _short(tokens), sums),
        Line(words("rounds.cost"), _short(1 + guesses * cost), f"1 + {guesses} × {_short(cost)}"),
        Line(words("rounds.gain"), f"{_short(gain)}×", f"{_short(tokens)} ÷ {_short(1 + guesses * cost)}"),
        Line(words("rounds.verdict"), told),
    ]


def law(values: Values, words: Catalogue) -> list[Line]:
    """The one that was left empty."""
    empty = [name for name in ("present", "rate", "stay") if values[name] is None]
    if len(empty) != 1:
        raise Wrong("wrong.little")
    known = {name: cast("Fraction | None", values[name]) for name in ("present", "rate", "stay")}
    divisor = {"rate": "stay", "stay": "rate"}.get(empty[0])
    if divisor is not None and not known[divisor]:
        raise Wrong("wrong.zero")
    found = little(**known)
    units = {"present": "", "rate": " req/s", "stay": " s"}
    return [Line(words(f"field.{empty[0]}"), f"{_short(found)}{units[empty[0]]}", _law(empty[0], known))]


def _law(name: str, known: Mapping[str, Fraction | None]) -> str:
    one, other = (_short(value) for value in known.values() if value is not None)
    return f"{one} {'×' if name == 'present' else '÷'} {other}"


CALCULATE: dict[str, Callable[[Values, Catalogue], list[Line]]] = {
    "kv": kv,
    "fit": fit,
    "rounds": rounds,
    "little": law,
}


def _exact(value: Value) -> Fraction:
    assert isinstance(value, Fraction)
    return value


def _whole(value: Value) -> int:
    return int(_exact(value))


def _short(value: Fraction) -> str:
    """Up to four significant decimals, no needless zeros."""
    text = f"{float(value):,.4f}" if abs(value) < 10_000 else f"{float(value):,.1f}"
    text = text.rstrip("0").rstrip(".")
    return text.replace("-", "−") if text not in ("0", "-0") or not value else f"{float(value):.2g}"


def _raised(number: int) -> str:
    """``number`` as an exponent."""
    return str(number).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _binary(size: int) -> str:
    """Bytes in KiB, MiB or GiB."""
    if size >= GIB:
        return f"{_short(Fraction(size, GIB))} GiB"
    return f"{_short(Fraction(size, MIB))} MiB" if size >= MIB else f"{_short(Fraction(size, 1024))} KiB"
