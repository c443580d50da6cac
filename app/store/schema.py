"""The tables. ``migrations`` makes them; a test proves that both agree."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    DateTime,
    ForeignKey,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.types import TypeDecorator

HEAD = "0004"  # the newest migration


class Moment(TypeDecorator[datetime]):
    """A moment in UTC; SQLite keeps no zone, so it is taken off on the way in and put on again."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Any) -> datetime | None:
        if value is None or dialect.name != "sqlite":
            return value
        return value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Any) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "ix": "ix_%(table_name)s_%(column_0_name)s",
    }
)


def _place(*, key: bool) -> list[Column[Any]]:
    return [
        Column("learner", String(64), primary_key=key, nullable=False),
        Column("exercise", String(64), primary_key=key, nullable=False),
        Column("attempt", Integer, primary_key=key, nullable=False, autoincrement=False),
    ]


attempts = Table(
    "attempts",
    metadata,
    *_place(key=True),
    Column("seed", Integer),
    Column("started", Moment, nullable=False),
)

predictions = Table(  # append-only: one row per lock
    "predictions",
    metadata,
    Column("id", Integer, primary_key=True),
    *_place(key=False),
    Column("vote", Integer, nullable=False),
    Column("answers", JSON, nullable=False),
    Column("confidence", Integer),
    Column("why", Text, nullable=False),
    Column("locked", Moment, nullable=False),
    UniqueConstraint("learner", "exercise", "attempt", "vote"),
)

drafts = Table(
    "drafts",
    metadata,
    *_place(key=True),
    Column("vote", Integer, nullable=False, server_default="1"),  # for which vote this is typed
    Column("answers", JSON, nullable=False),
    Column("confidence", Integer),
    Column("why", Text, nullable=False),
    Column("saved", Moment, nullable=False),
)

progress = Table(
    "progress",
    metadata,
    *_place(key=True),
    Column("step", String(16), nullable=False),
    Column("tick", Integer),
    Column("known", Integer, nullable=False),
    Column("observed", JSON(none_as_null=True)),
    Column("revealed", Boolean, nullable=False),
    Column("changed", Moment, nullable=False),
)

classes = Table(
    "classes",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(80), nullable=False),
    Column("started", Moment, nullable=False),
    Column("ended", Moment),
    Column("expires", Moment),
)

members = Table(  # a learner is in one class; another class gives the browser another learner
    "members",
    metadata,
    Column("learner", String(64), primary_key=True),
    Column("class_id", ForeignKey("classes.id"), nullable=False, index=True),
    Column("nickname", String(40)),
    Column("joined", Moment, nullable=False),
)

decisions = Table(  # append-only: the newest of a class, an exercise and a name counts
    "decisions",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("class_id", ForeignKey("classes.id"), index=True),
    Column("exercise", String(64)),
    Column("name", String(32), nullable=False),
    Column("value", JSON, nullable=False),
    Column("made", Moment, nullable=False),
)

shares = Table(  # append-only: what a short link of free play stands for
    "shares",
    metadata,
    Column("code", String(52), primary_key=True),
    Column("content", Text, nullable=False),
    Column("made", Moment, nullable=False),
)
