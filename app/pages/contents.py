"""The list of exercises: which there are, in course order, and their addresses."""

from __future__ import annotations

from functools import cache

import msgspec

from puzzles import load, names, puzzle_words
from puzzles.course import course

PATH = "path"  # the room of the main path, whose order counts
MAIN = "main"  # the exercise of the plain address


class Entry(msgspec.Struct, frozen=True):
    """One exercise of the list."""

    name: str
    title: str


class Chapter(msgspec.Struct, frozen=True):
    """A room of the course with its exercises."""

    title: str
    entries: tuple[Entry, ...]
    numbered: bool


@cache
def contents(language: str) -> tuple[Chapter, ...]:
    """Every exercise by room, in course order, titled in ``language``."""
    words = puzzle_words(language)
    return tuple(
        Chapter(
            words(f"room.{room.name}.title"),
            tuple(Entry(name, load(name).words(language)("title")) for name in room.exercises),
            room.name == PATH,
        )
        for room in course().rooms
    )


def known_exercise(asked: str | None) -> str | None:
    """``asked`` if there is such an exercise."""
    return asked if asked in names() else None
