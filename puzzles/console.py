"""An exercise as plain text: what ``show``, ``check`` and ``solve`` print."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterable, Sequence

from engine import InputError
from engine.words import Catalogue
from puzzles.asking import Field, fields
from puzzles.derivations import derivation
from puzzles.evidence import EvidenceRow
from puzzles.exercise import Exercise
from puzzles.judging import Item, shown, verdict
from puzzles.parsing import parse
from puzzles.rules import rule_lines
from puzzles.solving import histories, in_ledger, solve
from puzzles.units import UNITS
from puzzles.words import number, run_name

WIDTH = 100


def listing(exercises: Iterable[Exercise], language: str) -> str:
    """A line per exercise."""
    rows = [(one.name, one.words(language)("title")) for one in exercises]
    return table(rows)


def question(exercise: Exercise, language: str) -> str:
    """Rules, trace and fields; nothing that answers."""
    words = exercise.words(language)
    blocks = [words("title"), fold(words("lead")), rules(exercise, words), trace(exercise, words)]
    for part in exercise.parts:
        asked = [field for field in fields(exercise) if field.part == part.name]
        heading = words(f"part.{part.name}.title")
        blocks.append(f"{heading}\n{fold(words(f'part.{part.name}.ask'))}")
        blocks.append(table([_asked(field, words) for field in asked]))
    example = example_of(fields(exercise))
    blocks.append(fold(words("console.fields", name=exercise.name, example=example)))
    return "\n\n".join(blocks)


def example_of(found: Sequence[Field]) -> str:
    """An answer as it may be typed to the first field that is asked for."""
    first = next((field for field in found if field.required), found[0])
    return f"{first.key}={first.choices[-1] if first.choices else UNITS[first.unit].example}"


def rules(exercise: Exercise, words: Catalogue) -> str:
    """The rule card, numbered."""
    lines = rule_lines(exercise, words)
    return "\n".join(fold(f"{place}. {line}", "   ") for place, line in enumerate(lines, 1))


def trace(exercise: Exercise, words: Catalogue) -> str:
    """The requests as a table."""
    head = (words("table.request"), words("table.arrival"), "prompt", "output")
    rows = [
        (one.id, f"{number(one.arrival)} s", str(one.prompt_tokens), str(one.output_tokens))
        for one in exercise.requests
    ]
    return table([head, *rows])


def _asked(field: Field, words: Catalogue) -> tuple[str, ...]:
    """A field with its key; a star marks what is asked for."""
    unit = "|".join(field.choices) if field.choices else field.unit
    return ("*" if field.required else "", field.key, unit, field.label(words))


def solution(exercise: Exercise, language: str) -> str:
    """Every correct value and how it comes about."""
    words, correct, found = exercise.words(language), solve(exercise), in_ledger(exercise)
    rows = [
        (field.key, shown(correct[field.key], field.unit, words), derivation(field, found, words))
        for field in fields(exercise)
    ]
    return table(rows)


def judgement(exercise: Exercise, answers: Sequence[str], language: str) -> str:
    """Each answer judged, with the belief it betrays and the ticks that refute it.

    Raises InputError for a text that is no FIELD=VALUE, an unknown field, or a value that is none.
    """
    words = exercise.words(language)
    found, problems = parse(exercise, _raw(exercise, answers, words), required=False)
    for key, problem in problems.items():
        raise InputError(words("log.line", id=key, sentence=problem.sentence(words)))
    judged = verdict(exercise, found, histories(exercise), language)
    blocks = [_judged(item, words) for item in judged.items if item.given is not None]
    return "\n".join([*blocks, words("console.score", score=judged.score, asked=judged.asked)])


def _raw(exercise: Exercise, answers: Sequence[str], words: Catalogue) -> dict[str, str]:
    """The texts by field key. A short key such as R02.ttft stands for every field it ends."""
    raw: dict[str, str] = {}
    for answer in answers:
        key, equals, text = answer.partition("=")
        if not equals or not text.strip():
            raise InputError(words("console.form", text=answer))
        for full in _meant(exercise, key.strip()):
            raw[full] = text
    return raw


def _meant(exercise: Exercise, key: str) -> list[str]:
    """The fields of a full or a short key; the key itself when it is unknown, to be named as a problem."""
    keys = [field.key for field in fields(exercise)]
    first = exercise.parts[0].name
    short = [f.key for f in fields(exercise) if f.key.endswith(f".{key}") and f.part == first]
    return [key] if key in keys else short or [key]


def _judged(item: Item, words: Catalogue) -> str:
    """One item: the verdict, the arithmetic, and the evidence when a belief is recognised."""
    result = words("verdict.right" if item.right else "verdict.wrong")
    given, correct = (shown(value, item.unit, words) for value in (item.given, item.correct))
    lines = [f"{item.key}  {given}  {result}"]
    if not item.right:
        text = words("console.correct", value=correct, derivation=item.derivation)
        lines += [fold(f"  {text}", "  ")]
    if item.belief is not None:
        text = words("console.belief", title=item.belief.title, sentence=item.belief.sentence)
        lines += [fold(f"  {text}", "  ")]
        lines += [_row(row, words) for row in item.belief.evidence]
    return "\n".join(lines)


def _row(row: EvidenceRow, words: Catalogue) -> str:
    run, who = run_name(row.run, words), row.request or words("table.pool")
    text = words("console.row", run=run, tick=row.tick, who=who, sentence=row.sentence)
    return fold(f"    {text}", "      ")


# ---- plain text -----------------------------------------------------------------------------------


def table(rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as their widest cell; a Chinese character is two columns wide."""
    widths = [max(map(columns, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(cell + " " * (width - columns(cell)) for cell, width in zip(row, widths, strict=True))
        for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)


def columns(text: str) -> int:
    """Terminal columns that ``text`` takes."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def fold(text: str, indent: str = "") -> str:
    """``text`` in lines of at most WIDTH columns; Chinese, which has no spaces, is cut by the terminal."""
    if columns(text) > len(text):
        return text
    return textwrap.fill(text, WIDTH, subsequent_indent=indent)
