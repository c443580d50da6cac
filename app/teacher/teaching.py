"""The teacher's page: where the class is, its controls, its votes."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from tornado.web import HTTPError

from app.classroom.board import Board, board_of, title_of
from app.classroom.classroom import Classroom
from app.classroom.gate import TEACHER
from app.classroom.judging import Judge, asked
from app.classroom.opening import READING, is_open
from app.classroom.pages import picture_of
from app.classroom.words import class_words
from app.server import server
from app.state.directions import PHASES, Direction, direction_of, leaps, led_now, rules_of, shown_step
from app.store import Decided, Member, Prediction, SchoolClass
from app.teacher.base import TeacherHandler, class_title
from app.teacher.directing import last_tick
from app.web.identity import language_of, recognise
from app.words import app_words
from puzzles import puzzle_words
from puzzles.course import course

MAIN = "main"


class Teach(TeacherHandler):
    """The page; with the secret link, the cookie that opens it."""

    def prepare(self) -> None:
        key = self.get_query_argument("key", "")
        if key and self.classroom.gate.fits(TEACHER, key):
            self.classroom.gate.admit(self, TEACHER)
            self.redirect(self.request.path, status=303)
            return
        super().prepare()

    async def get(self) -> None:
        recognise(self)
        found = await self.looked_at()
        if found is None:
            self.redirect("teach/classes", status=303)
            return
        seen = await look(self, found)
        self.show(
            "teach.html.j2",
            **seen,
            picture=picture_of(self.classroom),
            link=link_of(self, seen),
            token=self.form_token,
            phases=PHASES,
            leap=self._leap(seen["direction"]),
            said=said(seen["direction"], language_of(self)),
            private=is_private(self.classroom),
            reading=await is_open(),
            reading_asked=self.get_query_argument("ask", "") == READING,
            rooms=rooms(language_of(self)),
        )

    def _leap(self, direction: Direction) -> str:
        """The phase that is asked about before it is taken, empty when there is nothing to ask."""
        phase = self.get_query_argument("ask", "")
        return (
            phase if direction.phase in PHASES and phase in PHASES and leaps(direction.phase, phase) else ""
        )


class Part(TeacherHandler):
    """A part of the page that changes; its script asks for it."""

    async def get(self, part: str) -> None:
        found = await self.looked_at()
        if found is None:
            raise HTTPError(404)
        seen = await look(self, found)
        self.show(f"{part}.html.j2", **seen, link=link_of(self, seen))


def link_of(handler: TeacherHandler, seen: dict[str, Any]) -> Callable[..., str]:
    """Makes addresses of the teacher's page with something else chosen."""
    chosen = {"exercise": seen["board"].exercise, "show": int(seen["show"]), "lang": language_of(handler)}
    if not seen["live"]:
        chosen["class"] = seen["school_class"].id
    return lambda **other: "?" + urlencode(chosen | other)


def is_private(classroom: Classroom) -> bool:
    """Whether no learner can reach this server: only this machine can, and no proxy is in front of it."""
    options = classroom.options
    return not (classroom.is_public or options.xheaders or options.origins)


async def look(handler: TeacherHandler, found: SchoolClass) -> dict[str, Any]:
    """What the templates need to know about a class and one of its exercises."""
    store, language = server().store, language_of(handler)
    steps = await handler.looked_up(store.first_attempts, class_id=found.id)
    predictions = await handler.looked_up(store.predictions, class_id=found.id)
    members = await handler.looked_up(store.classes.members, found.id)
    decided = await handler.looked_up(store.classes.decided, found.id)
    counts = count(predictions, steps, decided, language)
    name = chosen(handler.get_query_argument("exercise", ""), counts, decided)
    show = handler.get_query_argument("show", "") == "1"
    own = [one for one in predictions if one.place.exercise == name]
    direction = direction_of(decided.of(name), ended=decided.ended)
    shown = shown_steps(steps.get(name, {}), direction)
    board = await asyncio.to_thread(_board, name, own, shown, handler.classroom.judge, language, show)
    return {
        "school_class": found,
        "class_name": class_title(found, class_words(language)),
        "live": found.ended is None,
        "members": len(members),
        "counts": counts,
        "board": board,
        "show": show,
        "direction": direction,
        "elsewhere": title_of(now, language) if (now := led_now(decided)) not in ("", name) else "",
        "last_tick": last_tick(name) if asked(name) else 0,
        "people": people(own, members, direction),
        "address": handler.classroom.addresses[0],
        "code": handler.classroom.keys.join,
    }


def _board(
    name: str, own: list[Prediction], steps: dict[str, int], judge: Judge, language: str, show: bool
) -> Board:
    return board_of(name, own, steps, judge, class_words(language), language=language, show=show)


def shown_steps(steps: dict[str, int], direction: Direction) -> dict[str, int]:
    """How many pages of first attempts show each step: who has locked does not run before the class does."""
    shown: Counter[str] = Counter()
    for step, learners in steps.items():
        shown[shown_step(step, rules_of(direction, 1))] += learners
    return dict(shown)


def said(direction: Direction, language: str) -> str:
    """What the pages of learners who have come along say now."""
    words = app_words(language)
    if direction.phase == "run" and direction.tick is not None:
        return words("led.tick", tick=direction.tick)
    return words(f"led.{direction.phase}")


def count(
    predictions: list[Prediction], steps: dict[str, dict[str, int]], decided: Decided, language: str
) -> list[tuple[str, str, int]]:
    """The exercises that the class has touched: name, title, how many have locked."""
    learners: dict[str, set[str]] = {name: set() for name in (*steps, *decided.values) if name}
    for one in predictions:
        learners.setdefault(one.place.exercise, set()).add(one.place.learner)
    return [(name, title_of(name, language), len(learners[name])) for name in sorted(learners)]


def chosen(wanted: str, counts: list[tuple[str, str, int]], decided: Decided) -> str:
    """The exercise looked at: the one asked for, else the one led last, else one that was touched."""
    known = [name for name, _, _ in counts]
    if wanted in known or asked(wanted) is not None:
        return wanted
    return decided.newest or (known[0] if known and MAIN not in known else MAIN)


def people(own: list[Prediction], members: list[Member], direction: Direction) -> dict[str, Any]:
    """Who has locked the vote that counts now and who has not: nicknames, and how many gave none."""
    second = direction.phase == "vote2"
    done = {one.place.learner for one in own if one.place.attempt == 1 and (one.vote == 2 or not second)}
    locked = [one for one in members if one.learner in done]
    open_ = [one for one in members if one.learner not in done]
    return {
        "locked": [one.nickname for one in locked if one.nickname],
        "locked_nameless": sum(not one.nickname for one in locked),
        "open": [one.nickname for one in open_ if one.nickname],
        "open_nameless": sum(not one.nickname for one in open_),
    }


def rooms(language: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """Every exercise by room, in course order, for the list to choose from."""
    words = puzzle_words(language)
    return [
        (
            words(f"room.{room.name}.title"),
            [(name, title_of(name, language)) for name in room.exercises],
        )
        for room in course().rooms
    ]
