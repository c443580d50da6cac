"""The fields of the calculators, and what a visitor typed into them as numbers."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from fractions import Fraction

import msgspec

from engine.words import Catalogue
from puzzles.calculator import MODELS

LONGEST = 24  # characters of a number
SMALLEST = -9  # power of ten: an exact fraction of less would only cost time
SHOWN = 20  # characters of a wrong text that its sentence repeats
OWN = "own"  # the model whose shape is typed


class Box(msgspec.Struct, frozen=True):
    """A field for one number: its default as typed, its bounds; ``whole``: no fractions; ``blank`` may be."""

    name: str
    default: str
    least: str
    most: str
    unit: str = ""
    whole: bool = False
    blank: bool = False


class Choice(msgspec.Struct, frozen=True):
    """A field with names to choose from; the first is the default."""

    name: str
    names: tuple[str, ...]


class Wrong(Exception):
    """A text that is no value of its field: a key of the catalogue and its blanks."""

    def __init__(self, key: str, **values: object) -> None:
        super().__init__(key)
        self.key, self.values = key, values

    def sentence(self, words: Catalogue) -> str:
        return words(self.key, **self.values)


Field = Box | Choice
Value = Fraction | str | None

KV: tuple[Field, ...] = (
    Choice("model", ("plain_7b", *(name for name in MODELS if name != "plain_7b"), OWN)),
    Choice("number", ("2", "1", "4")),
    Box("tokens", "2048", "1", "100000000", "token", whole=True),
    Box("sequences", "1", "1", "1000000", whole=True),
    Box("layers", "32", "1", "1000", whole=True),
    Box("kv_heads", "32", "1", "1000", whole=True),
    Box("head_dim", "128", "1", "10000", whole=True),
    Box("latent", "", "1", "100000", whole=True, blank=True),
)
FIT: tuple[Field, ...] = (
    Box("parameters", "14", "0.001", "10000", "10⁹"),
    Choice("format", ("fp16", "int8", "int4")),
    Box("memory", "16", "0.1", "100000", "GB"),
    Box("rest", "2", "0", "100000", "GB"),
    Choice("kv_model", tuple(MODELS)),
)
ROUNDS: tuple[Field, ...] = (
    Box("acceptance", "0.8", "0", "1"),
    Box("guesses", "4", "1", "64", whole=True),
    Box("cost", "0.1", "0", "10"),
)
LITTLE: tuple[Field, ...] = (
    Box("present", "", "0", "1000000000", blank=True),
    Box("rate", "4", "0", "1000000000", "req/s", blank=True),
    Box("stay", "2.5", "0", "1000000000", "s", blank=True),
)
CALCULATORS: dict[str, tuple[Field, ...]] = {"kv": KV, "fit": FIT, "rounds": ROUNDS, "little": LITTLE}


def default(field: Field) -> str:
    """What stands in the field before anybody types."""
    return field.names[0] if isinstance(field, Choice) else field.default


def parse(field: Field, text: str) -> Value:
    """The value of ``text``; None where it is empty and may be. Raises Wrong."""
    if isinstance(field, Choice):
        if text not in field.names:
            raise Wrong("wrong.choice", text=text[:SHOWN])
        return text
    tidy = unicodedata.normalize("NFKC", text).strip()
    if not tidy and field.blank:
        return None
    return _number(field, tidy)


def _number(box: Box, text: str) -> Fraction:
    example = box.default or box.least
    if not text:
        raise Wrong("wrong.empty", example=example)
    try:
        number = Decimal(text) if len(text) <= LONGEST else Decimal("nan")
    except InvalidOperation:
        number = Decimal("nan")
    if not number.is_finite():
        raise Wrong("wrong.number", text=text[:SHOWN], example=example)
    if not Decimal(box.least) <= number <= Decimal(box.most) or (number and number.adjusted() < SMALLEST):
        raise Wrong("wrong.range", text=text[:SHOWN], least=box.least, most=box.most)
    if box.whole and number != int(number):
        raise Wrong("wrong.whole", text=text[:SHOWN])
    return Fraction(number)


def parse_all(
    fields: tuple[Field, ...], typed: Mapping[str, str]
) -> tuple[dict[str, Value], dict[str, Wrong]]:
    """The values by field, and what is wrong by field."""
    values: dict[str, Value] = {}
    wrong: dict[str, Wrong] = {}
    for field in fields:
        try:
            values[field.name] = parse(field, typed[field.name])
        except Wrong as error:
            wrong[field.name] = error
    return values, wrong
