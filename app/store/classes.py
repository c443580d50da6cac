"""Classes: who is in them, and what their teacher decided. Each call is one short transaction."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import msgspec
from sqlalchemy import Connection, Engine, RowMapping, Select, and_, func, select

from app.store import schema
from app.store.statements import add_once

NAME_LENGTH = 80  # characters
NICKNAME_LENGTH = 40


class SchoolClass(msgspec.Struct, frozen=True):
    """A class. ``ended`` None: it goes on; ``expires`` None: kept until it is deleted."""

    id: int
    name: str
    started: datetime
    ended: datetime | None
    expires: datetime | None


class Member(msgspec.Struct, frozen=True):
    """A learner of a class; ``nickname`` if they gave one."""

    learner: str
    class_id: int
    nickname: str | None


class Decided(msgspec.Struct, frozen=True):
    """What was decided last: by exercise ("" for the whole class) and name. ``ended``: the class is over;
    ``newest`` is the exercise of the last decision about one; ``gone``: nothing is known of the class."""

    ended: bool
    values: dict[str, dict[str, Any]]
    newest: str | None = None
    gone: bool = False

    def of(self, exercise: str) -> dict[str, Any]:
        return {"phase": "closed"} if self.gone else self.values.get(exercise, {})


class Classes:
    """The classes of a store. Decisions are only ever added; the newest of a name counts."""

    def __init__(self, engine: Engine, clock: Callable[[], datetime]) -> None:
        self.engine = engine
        self.clock = clock

    # ---- classes -------------------------------------------------------------------------

    def start(self, name: str = "", *, keep_days: int = 0) -> SchoolClass:
        """A new class; the one before is over. ``keep_days`` 0: it does not expire."""
        now = self.clock()
        values = {
            "name": name[:NAME_LENGTH],
            "started": now,
            "expires": now + timedelta(days=keep_days) if keep_days else None,
        }
        with self.engine.begin() as connection:
            self._end(connection, schema.classes.c.ended.is_(None))
            made = connection.execute(schema.classes.insert().values(values)).inserted_primary_key
            assert made is not None
            return _class(_row_of(connection, made[0]))

    def current(self) -> SchoolClass | None:
        """The class that goes on, None when the last one has ended. Changes nothing."""
        table = schema.classes
        asked = select(table).where(table.c.ended.is_(None)).order_by(table.c.id.desc()).limit(1)
        with self.engine.connect() as connection:
            row = connection.execute(asked).mappings().first()
        return _class(row) if row else None

    def all(self) -> list[tuple[SchoolClass, int]]:
        """Every class with the number of its members, the newest first. Changes nothing."""
        table, members = schema.classes, schema.members
        joined = table.outerjoin(members, members.c.class_id == table.c.id)
        asked = select(table, func.count(members.c.learner).label("members")).select_from(joined)
        with self.engine.connect() as connection:
            rows = connection.execute(asked.group_by(table.c.id).order_by(table.c.id.desc())).mappings()
            return [(_class(row), int(row["members"])) for row in rows]

    def rename(self, class_id: int, name: str) -> None:
        with self.engine.begin() as connection:
            table = schema.classes
            connection.execute(
                table.update().where(table.c.id == class_id).values(name=name.strip()[:NAME_LENGTH])
            )

    def end(self, class_id: int) -> None:
        """The class is over: nobody joins it, and its pages change no more."""
        with self.engine.begin() as connection:
            self._end(connection, and_(schema.classes.c.id == class_id, schema.classes.c.ended.is_(None)))

    def resume(self, class_id: int) -> None:
        """Go on with a class that has ended; the one that goes on now is over."""
        table = schema.classes
        with self.engine.begin() as connection:
            self._end(connection, and_(table.c.id != class_id, table.c.ended.is_(None)))
            connection.execute(table.update().where(table.c.id == class_id).values(ended=None))
            self._decide(connection, class_id, "ended", False)

    def _end(self, connection: Connection, which: Any) -> None:
        table = schema.classes
        for class_id in connection.execute(select(table.c.id).where(which)).scalars().all():
            connection.execute(table.update().where(table.c.id == class_id).values(ended=self.clock()))
            self._decide(connection, class_id, "ended", True)

    def delete(self, class_id: int) -> None:
        """Remove a class that has ended, with all that is known of its learners. ValueError if it goes on."""
        with self.engine.begin() as connection:
            row = _row_of(connection, class_id)
            if row is None:
                return
            if row["ended"] is None:
                raise ValueError("a class that goes on cannot be deleted")
            _delete(connection, class_id)

    def delete_expired(self) -> list[int]:
        """Delete the classes whose time is over, but for the one that goes on; their numbers."""
        table = schema.classes
        asked = select(table.c.id).where(table.c.ended.is_not(None), table.c.expires <= self.clock())
        with self.engine.begin() as connection:
            found = list(connection.execute(asked).scalars())
            for class_id in found:
                _delete(connection, class_id)
        return found

    # ---- members -------------------------------------------------------------------------

    def join(self, learner: str, class_id: int) -> bool:
        """Make ``learner`` a member, once. False when they are in another class."""
        row = {"learner": learner, "class_id": class_id, "joined": self.clock()}
        with self.engine.begin() as connection:
            add_once(connection, schema.members, row)
            table = schema.members
            found = connection.execute(select(table.c.class_id).where(table.c.learner == learner)).scalar()
        return found == class_id

    def call(self, learner: str, nickname: str) -> None:
        """Set or, when it is empty, forget the nickname of a member."""
        table = schema.members
        text = " ".join(nickname.split())[:NICKNAME_LENGTH] or None
        with self.engine.begin() as connection:
            connection.execute(table.update().where(table.c.learner == learner).values(nickname=text))

    def member(self, learner: str) -> Member | None:
        """What is known of the learner as a member, None for a stranger. Changes nothing."""
        table = schema.members
        with self.engine.connect() as connection:
            row = connection.execute(select(table).where(table.c.learner == learner)).mappings().first()
        return _member(row) if row else None

    def members(self, class_id: int) -> list[Member]:
        """Who is in the class, in the order they came. Changes nothing."""
        table = schema.members
        asked = select(table).where(table.c.class_id == class_id).order_by(table.c.joined, table.c.learner)
        with self.engine.connect() as connection:
            return [_member(row) for row in connection.execute(asked).mappings()]

    # ---- decisions -----------------------------------------------------------------------

    def decide(self, class_id: int, name: str, value: Any, *, exercise: str | None = None) -> None:
        """Append what the teacher decided for the class, or for one exercise of it."""
        with self.engine.begin() as connection:
            self._decide(connection, class_id, name, value, exercise)

    def _decide(
        self, connection: Connection, class_id: int, name: str, value: Any, exercise: str | None = None
    ) -> None:
        row = {"class_id": class_id, "exercise": exercise, "name": name, "value": value, "made": self.clock()}
        connection.execute(schema.decisions.insert().values(row))

    def decided(
        self, class_id: int, *, exercise: str | None = None, since: datetime | None = None
    ) -> Decided:
        """What was decided last, for ``exercise`` or all. A class that is gone has ended. Changes nothing."""
        table = schema.decisions
        asked = select(table.c.exercise, table.c.name, table.c.value).where(table.c.class_id == class_id)
        asked = asked if exercise is None else asked.where(table.c.exercise == exercise)
        asked = asked if since is None else asked.where(table.c.made >= since)
        values: dict[str, dict[str, Any]] = {}
        newest = None
        with self.engine.connect() as connection:
            row = _row_of(connection, class_id)
            for about, name, value in connection.execute(asked.order_by(table.c.id)):
                values.setdefault(about or "", {})[name] = value
                newest = about or newest
        return Decided(row is None or row["ended"] is not None, values, newest, gone=row is None)

    def mark(self) -> tuple[int, int]:
        """Changes with every decision. Changes nothing."""
        table = schema.decisions
        with self.engine.connect() as connection:
            newest, count = connection.execute(select(func.max(table.c.id), func.count())).one()
        return newest or 0, count


def of_class(class_id: int) -> Select[tuple[str]]:
    """The learners of a class, for a condition."""
    return select(schema.members.c.learner).where(schema.members.c.class_id == class_id)


def _delete(connection: Connection, class_id: int) -> None:
    own = [table for table in schema.metadata.tables.values() if "learner" in table.c]
    for table in sorted(own, key=lambda one: one is schema.members):  # the members last: they say who it is
        connection.execute(table.delete().where(table.c.learner.in_(of_class(class_id))))
    connection.execute(schema.decisions.delete().where(schema.decisions.c.class_id == class_id))
    connection.execute(schema.classes.delete().where(schema.classes.c.id == class_id))


def _row_of(connection: Connection, class_id: int) -> RowMapping | None:
    table = schema.classes
    return connection.execute(select(table).where(table.c.id == class_id)).mappings().first()


def _class(row: RowMapping | None) -> SchoolClass:
    assert row is not None
    return SchoolClass(**{name: row[name] for name in SchoolClass.__struct_fields__})


def _member(row: RowMapping) -> Member:
    return Member(row["learner"], row["class_id"], row["nickname"])
