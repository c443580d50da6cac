"""The course: which rooms there are, which exercises each has, in order; and what all of them share."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec

from engine import InputError
from puzzles.exercise import Ranges

FOLDER = Path(__file__).parent / "exercises"
PLACE = FOLDER / "course.toml"


class Room(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A room and its exercises in course order; its texts are ``room.<name>.title`` and ``.lead``.

    ``exhibits`` are tables shown beside the exercises (see site/exhibits.py).
    """

    name: str
    exercises: tuple[str, ...]
    exhibits: tuple[str, ...] = ()


class Course(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``texts`` are the lines prompts are cut from, ``requests`` what variants of R01–R04 are drawn from."""

    rooms: tuple[Room, ...]
    texts: tuple[str, ...]
    requests: tuple[Ranges, ...]


@cache
def course() -> Course:
    """The course of this lab. Raises InputError when its file is wrong."""
    return read_course(PLACE)


def read_course(place: Path) -> Course:
    """A course file. Raises InputError that names the file and the place."""
    try:
        return msgspec.toml.decode(place.read_bytes(), type=Course)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise InputError(f"{place.name}: {error}") from None


def names() -> tuple[str, ...]:
    """The names of all exercises, in course order."""
    return tuple(name for room in course().rooms for name in room.exercises)


def following(exercise: str) -> str | None:
    """The exercise after that one in course order, None after the last. Raises ValueError if unknown."""
    order = names()
    place = order.index(exercise) + 1
    return order[place] if place < len(order) else None


def room_of(exercise: str) -> Room:
    """The room an exercise belongs to. Raises KeyError."""
    return {name: room for room in course().rooms for name in room.exercises}[exercise]
