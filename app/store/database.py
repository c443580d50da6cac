"""Opening the database: which one, how it is set, and the schema brought up to date."""

from __future__ import annotations

import os
import sqlite3
import time
from errno import ENOENT
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, inspect, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import DatabaseError, SQLAlchemyError

from app.settings import DATABASE, Settings
from app.store import schema
from app.store.errors import StoreError, store_error
from app.store.store import Store

MIGRATIONS = Path(__file__).parents[1] / "migrations"

# WAL: readers never wait for the writer. FULL: a commit is on the disk before it is acknowledged, so
# that neither kill -9 nor a flat battery loses a lock; it costs one fsync per commit, which is
# nothing beside a learner's typing.
PRAGMAS = ("busy_timeout=5000", "journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON")

# As patient as SQLite's busy_timeout; without them a lost network would hold the server for minutes.
POSTGRESQL = {
    "connect_timeout": 5,  # seconds
    "tcp_user_timeout": 10_000,  # ms
    "options": "-c lock_timeout=5000",
}
DRIVERS = {"postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}


def open_store(settings: Settings) -> Store:
    """The store that ``settings`` name, with its schema up to date. May create the file and tables.

    Raises StoreError.
    """
    engine = engine_of(settings)
    try:
        bring_up_to_date(engine)
    except BaseException:
        engine.dispose()
        raise
    return Store(engine)


def engine_of(settings: Settings) -> Engine:
    """An engine for the database that ``settings`` name, made if it is a file. Raises StoreError."""
    try:
        return make_engine(settings.database_url or private_file(settings.data))
    except (OSError, ImportError, SQLAlchemyError) as error:
        raise store_error(error) from error


def private_file(folder: Path) -> str:
    """The URL of the SQLite file in ``folder``; both are made for this user only when they are not there."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = folder / DATABASE
    os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))
    return f"sqlite:///{file}"


def make_engine(url: str) -> Engine:
    """An engine for ``url``. SQLite gets its settings with each connection, PostgreSQL our driver."""
    address = make_url(url)
    address = address.set(drivername=DRIVERS.get(address.drivername, address.drivername))
    if address.get_backend_name() != "sqlite":
        asked = {name: value for name, value in POSTGRESQL.items() if name not in address.query}
        return create_engine(address, pool_pre_ping=True, connect_args=asked)
    engine = create_engine(address)
    event.listen(engine, "connect", _set_pragmas)
    file = _file_of(address)
    if file is not None:
        file.touch(exist_ok=True)
        _watch_file(engine, file)
    return engine


def _file_of(address: URL) -> Path | None:
    """The file behind a SQLite URL, None for one in memory or one that SQLite itself has to find."""
    name = address.database
    return None if not name or name.startswith((":", "file:")) else Path(name)


def _watch_file(engine: Engine, file: Path) -> None:
    """Let nobody write into a file that is no longer there, nor into another one in its place.

    SQLite in WAL mode goes on writing into a file that was removed or replaced, and says that all is
    well; and opening an empty file in its place would throw away the log that belongs to the old one.
    """
    first = _identity(file)

    def demand(*_: Any) -> None:
        if _identity(file) != first:
            raise FileNotFoundError(ENOENT, "the file was replaced", str(file))

    event.listen(engine, "do_connect", demand)
    event.listen(engine, "checkout", demand)


def _identity(file: Path) -> tuple[int, int]:
    found = file.stat()
    return found.st_dev, found.st_ino


def _set_pragmas(connection: Any, _: object) -> None:
    cursor = connection.cursor()
    for pragma in PRAGMAS:
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def bring_up_to_date(engine: Engine, *, patience: float = 10.0) -> None:
    """Run the migrations that are missing. Two servers may start at once: the slower waits for the faster.

    Raises StoreError; ``newer`` when a newer program has made this database.
    """
    give_up = time.monotonic() + patience
    while (found := revision(engine)) != schema.HEAD:
        if found is not None and found not in known_revisions():
            raise StoreError("newer", found)
        try:
            upgrade(engine)
        except (DatabaseError, OSError) as error:
            failed = store_error(error)
            if failed.code != "locked" or time.monotonic() > give_up:
                raise failed from error
            time.sleep(0.1)


def revision(engine: Engine) -> str | None:
    """The migration the database stands at, None for an empty one. Raises StoreError."""
    try:
        with engine.connect() as connection:
            if not inspect(connection).has_table("alembic_version"):
                return None
            return connection.execute(text("select version_num from alembic_version")).scalar()
    except (SQLAlchemyError, OSError) as error:
        raise store_error(error) from error


def upgrade(engine: Engine, upto: str = "head") -> None:
    """Run the missing migrations up to ``upto``: all of them or, when it fails or is killed, none."""
    with engine.connect() as connection, connection.begin():
        migrate(connection, upto)


def migrate(connection: Connection, upto: str = "head") -> None:
    """Run the missing migrations in the transaction that ``connection`` is in, as the only one to do so."""
    from alembic import command

    hold_alone(connection)
    config = _config()
    config.attributes["connection"] = connection
    command.upgrade(config, upto)


def hold_alone(connection: Connection) -> None:
    """Let no second program migrate until this transaction ends, and make the shape part of it.

    Python's SQLite driver begins a transaction with the first row, too late for the tables: of a
    migration that is killed half of them would stay.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("select pg_advisory_xact_lock(7125309)"))
        return
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    if not driver.in_transaction:
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def known_revisions() -> list[str]:
    """All migrations of this program, the first one first."""
    from alembic.script import ScriptDirectory

    scripts = ScriptDirectory.from_config(_config()).walk_revisions()
    return [script.revision for script in scripts][::-1]


def _config() -> Any:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    return config
