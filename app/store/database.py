"""Opening the database: which one, how SQLite is set, and the schema brought up to date."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, create_engine, event, inspect, text
from sqlalchemy.exc import DatabaseError, SQLAlchemyError

from app.settings import DATABASE, Settings
from app.store import schema
from app.store.store import Store

MIGRATIONS = Path(__file__).parents[1] / "migrations"

# WAL: readers never wait for the writer. FULL: a commit is on the disk before it is acknowledged, so
# that neither kill -9 nor a flat battery loses a lock; it costs one fsync per commit, which is
# nothing beside a learner's typing.
PRAGMAS = ("journal_mode=WAL", "synchronous=FULL", "busy_timeout=5000", "foreign_keys=ON")


def open_store(settings: Settings) -> Store:
    """The store that ``settings`` name, with its schema up to date. May create the file and tables."""
    engine = make_engine(settings.database_url or private_file(settings.data))
    bring_up_to_date(engine)
    return Store(engine)


def private_file(folder: Path) -> str:
    """The URL of the SQLite file in ``folder``; both are made for this user only when they are not there."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = folder / DATABASE
    os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))
    return f"sqlite:///{file}"


def make_engine(url: str) -> Engine:
    """An engine for ``url``; SQLite gets its settings with each connection."""
    engine = create_engine(url, pool_pre_ping=not url.startswith("sqlite"))
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _set_pragmas)
    return engine


def _set_pragmas(connection: Any, _: object) -> None:
    cursor = connection.cursor()
    for pragma in PRAGMAS:
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def bring_up_to_date(engine: Engine, *, patience: float = 10.0) -> None:
    """Run the migrations that are missing. Two servers may start at once: the slower waits for the faster."""
    give_up = time.monotonic() + patience
    while revision(engine) != schema.HEAD:
        try:
            _upgrade(engine)
        except DatabaseError:
            if time.monotonic() > give_up:
                raise
            time.sleep(0.1)


def revision(engine: Engine) -> str | None:
    """The migration the database stands at, None for an empty one."""
    try:
        if not inspect(engine).has_table("alembic_version"):
            return None
        with engine.connect() as connection:
            return connection.execute(text("select version_num from alembic_version")).scalar()
    except SQLAlchemyError as error:
        raise ConnectionError(f"the database cannot be read: {error}") from error


def _upgrade(engine: Engine) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["engine"] = engine
    command.upgrade(config, "head")
