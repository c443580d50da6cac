"""The one way in and out of the database. Each call is one short transaction."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, RowMapping, Table, and_, exists, func, select, text

from app.store import schema
from app.store.classes import Classes, of_class
from app.store.statements import add_once, insert
from app.store.values import Attempt, Draft, Place, Prediction, Progress, Visit

PLACE = ("learner", "exercise", "attempt")


def now() -> datetime:
    return datetime.now(UTC)


class Store:
    """Attempts, drafts, predictions and progress of all learners.

    Every call may be repeated with no other effect (a double click, a reconnect, two tabs), and is
    on the disk when it returns. Nothing is ever changed in ``predictions``, and nothing removed but with
    the class it belongs to. ``classes`` knows who is in which class, and what its teacher decided.
    """

    def __init__(self, engine: Engine, *, clock: Callable[[], datetime] = now) -> None:
        self.engine = engine
        self.clock = clock
        self.classes = Classes(engine, clock)

    def ping(self) -> None:
        """Change nothing; raise what the database raises when it cannot be reached."""
        with self.engine.connect() as connection:
            connection.execute(text("select 1"))

    def close(self) -> None:
        """Give the connections back."""
        self.engine.dispose()

    # ---- attempts ------------------------------------------------------------------------

    def begin(self, place: Place, seed: int | None) -> Attempt:
        """Add the attempt unless it is there; the one that is there counts."""
        with self.engine.begin() as connection:
            add_once(connection, schema.attempts, _row(place, seed=seed, started=self.clock()))
            return _attempt(place, _one(connection, schema.attempts, place))

    def latest(self, learner: str, exercise: str) -> Attempt | None:
        """The learner's newest attempt at the exercise. Changes nothing."""
        table = schema.attempts
        mine = and_(table.c.learner == learner, table.c.exercise == exercise)
        newest = select(func.max(table.c.attempt)).where(mine).scalar_subquery()
        with self.engine.connect() as connection:
            row = connection.execute(select(table).where(mine, table.c.attempt == newest)).mappings().first()
        return _attempt(Place(learner, exercise, row["attempt"]), row) if row else None

    def visits(self, learner: str) -> list[Visit]:
        """Every attempt of the learner, in one query; of several votes the last counts. Changes nothing."""
        attempts, locks, progress = schema.attempts, schema.predictions, schema.progress
        joined = attempts.outerjoin(progress, _same_place(attempts, progress))
        joined = joined.outerjoin(locks, _same_place(attempts, locks))
        asked = select(
            *(attempts.c[name] for name in ("exercise", "attempt", "seed", "started")),
            *(progress.c.changed, progress.c.revealed, locks.c.answers),
        )
        asked = asked.select_from(joined).where(attempts.c.learner == learner).order_by(locks.c.vote)
        with self.engine.connect() as connection:
            rows = list(connection.execute(asked).mappings())
        return list({(row["exercise"], row["attempt"]): _visit(row) for row in rows}.values())

    # ---- drafts --------------------------------------------------------------------------

    def save_draft(self, place: Place, draft: Draft) -> bool:
        """Put ``draft`` in place of the last one. False, and nothing changes, once its vote is locked."""
        values = {name: getattr(draft, name) for name in Draft.__struct_fields__}
        locked = and_(_at(schema.predictions, place), schema.predictions.c.vote >= draft.vote)
        with self.engine.begin() as connection:
            if connection.execute(select(exists().where(locked))).scalar():
                return False
            self._put(connection, schema.drafts, place, values | {"saved": self.clock()})
        return True

    def draft(self, place: Place) -> Draft:
        """The last draft, empty when there is none. Changes nothing."""
        row = self._read(schema.drafts, place)
        return Draft(**{name: row[name] for name in Draft.__struct_fields__}) if row else Draft()

    # ---- predictions ---------------------------------------------------------------------

    def lock(
        self, place: Place, answers: dict[str, Any], *, confidence: int | None, why: str, vote: int = 1
    ) -> Prediction:
        """Append the prediction unless this vote is locked already; the first one locked is returned."""
        values = {"answers": answers, "confidence": confidence, "why": why, "locked": self.clock()}
        with self.engine.begin() as connection:
            add_once(connection, schema.predictions, _row(place, vote=vote, **values))
            found = _one(connection, schema.predictions, place, schema.predictions.c.vote == vote)
        return _prediction(place, found)

    def prediction(self, place: Place, vote: int = 1) -> Prediction | None:
        """The locked prediction, None before the lock. Changes nothing."""
        row = self._read(schema.predictions, place, schema.predictions.c.vote == vote)
        return _prediction(place, row) if row else None

    def votes(self, place: Place) -> list[Prediction]:
        """Every vote locked at this place, in the order of the votes. Changes nothing."""
        table = schema.predictions
        asked = select(table).where(_at(table, place)).order_by(table.c.vote)
        with self.engine.connect() as connection:
            return [_prediction(place, row) for row in connection.execute(asked).mappings()]

    # ---- the whole class -------------------------------------------------------------------

    def predictions(self, *, exercise: str | None = None, class_id: int | None = None) -> list[Prediction]:
        """What all learners (of a class) locked, in the order of the locks. Changes nothing."""
        table = schema.predictions
        asked = select(table).order_by(table.c.id)
        asked = asked if exercise is None else asked.where(table.c.exercise == exercise)
        asked = asked if class_id is None else asked.where(table.c.learner.in_(of_class(class_id)))
        with self.engine.connect() as connection:
            return [_prediction(_place(row), row) for row in connection.execute(asked).mappings()]

    def first_attempts(self, *, class_id: int | None = None) -> dict[str, dict[str, int]]:
        """How many learners (of a class) are at which step of a first attempt, by exercise. No change."""
        table = schema.progress
        asked = select(table.c.exercise, table.c.step, func.count()).where(table.c.attempt == 1)
        asked = asked if class_id is None else asked.where(table.c.learner.in_(of_class(class_id)))
        found: dict[str, dict[str, int]] = {}
        with self.engine.connect() as connection:
            for exercise, step, count in connection.execute(asked.group_by(table.c.exercise, table.c.step)):
                found.setdefault(exercise, {})[step] = count
        return found

    # ---- progress ------------------------------------------------------------------------

    def save_progress(self, place: Place, progress: Progress) -> Progress:
        """Move the learner to ``progress``, but never back (see ``Progress.joined``); where they are then."""
        with self.engine.begin() as connection:
            row = connection.execute(select(schema.progress).where(_at(schema.progress, place))).mappings()
            farther = progress.joined(_progress(row.first()))
            values = {name: getattr(farther, name) for name in Progress.__struct_fields__}
            self._put(connection, schema.progress, place, values | {"changed": self.clock()})
        return farther

    def progress(self, place: Place) -> Progress:
        """How far the learner is, at the very start when nothing is known. Changes nothing."""
        return _progress(self._read(schema.progress, place))

    # ---- statements ----------------------------------------------------------------------

    def _put(self, connection: Connection, table: Table, place: Place, values: dict[str, Any]) -> None:
        statement = insert(connection, table).values(_row(place, **values))
        connection.execute(statement.on_conflict_do_update(index_elements=PLACE, set_=values))

    def _read(self, table: Table, place: Place, *more: ColumnElement[bool]) -> RowMapping | None:
        with self.engine.connect() as connection:
            return connection.execute(select(table).where(_at(table, place), *more)).mappings().first()


def _at(table: Table, place: Place) -> ColumnElement[bool]:
    return and_(*(table.c[name] == getattr(place, name) for name in PLACE))


def _row(place: Place, **values: Any) -> dict[str, Any]:
    return {name: getattr(place, name) for name in PLACE} | values


def _place(row: RowMapping) -> Place:
    return Place(*(row[name] for name in PLACE))


def _one(connection: Connection, table: Table, place: Place, *more: ColumnElement[bool]) -> RowMapping:
    return connection.execute(select(table).where(_at(table, place), *more)).mappings().one()


def _same_place(one: Table, other: Table) -> ColumnElement[bool]:
    return and_(*(one.c[name] == other.c[name] for name in PLACE))


def _visit(row: RowMapping) -> Visit:
    moment = row["changed"] or row["started"]
    key = row["exercise"], row["attempt"], row["seed"]
    return Visit(*key, moment, row["answers"], bool(row["revealed"]))


def _attempt(place: Place, row: RowMapping) -> Attempt:
    return Attempt(place, row["seed"], row["started"])


def _prediction(place: Place, row: RowMapping) -> Prediction:
    return Prediction(place, row["vote"], row["answers"], row["confidence"], row["why"], row["locked"])


def _progress(row: RowMapping | None) -> Progress:
    return Progress(**{name: row[name] for name in Progress.__struct_fields__}) if row else Progress()
