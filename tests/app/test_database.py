"""The database, its schema, and what survives a server that is killed; on SQLite and on PostgreSQL."""

from __future__ import annotations

import os
import re
import signal
import stat
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import select, text

from app.settings import DATABASE, Settings, read_settings, user_data_folder
from app.store import Place, StoreError, open_store, schema
from app.store.database import PRAGMAS, engine_of, known_revisions, make_engine, revision
from tests.databases import both_new, postgresql
from tests.postgres import PASSWORD, Cluster
from tests.serving import PATIENCE, free_port

START = """
from app.settings import read_settings
from app.store import Place, open_store

store = open_store(read_settings())
"""

LOCKS = (
    START
    + """
for number in range(100_000):
    store.lock(Place(f"{number:032x}", "main", 1), {"x": number}, confidence=None, why="")
    print(number, flush=True)
"""
)

# Dies at the statement of the migrations that makes its argument.
DIES = """
import os, signal, sys
from sqlalchemy import event
from sqlalchemy.engine import Engine
from app.settings import read_settings
from app.store import open_store

@event.listens_for(Engine, "after_cursor_execute")
def die(connection, cursor, statement, *rest):
    if f"CREATE TABLE {sys.argv[1]}" in statement:
        os.kill(os.getpid(), signal.SIGKILL)

open_store(read_settings())
"""


def python(settings: Settings, script: str, *arguments: str) -> subprocess.Popen[str]:
    """A process that runs ``script`` with this database."""
    environment = os.environ | {
        "TICKLAB_DATA": str(settings.data),
        "TICKLAB_DATABASE_URL": settings.database_url or "",
    }
    command = [sys.executable, "-c", script, *arguments]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def ended(process: subprocess.Popen[str]) -> int:
    """Its exit status; it is waited for, and what it still says is read."""
    process.communicate(timeout=PATIENCE)
    return process.returncode


# ---- the schema --------------------------------------------------------------------------------------


@both_new
def test_the_migrations_make_the_schema(settings: Settings) -> None:
    store = open_store(settings)
    with store.engine.connect() as connection:
        differences = compare_metadata(MigrationContext.configure(connection), schema.metadata)
    assert differences == []
    assert revision(store.engine) == schema.HEAD
    store.close()


def test_head_is_the_newest_migration() -> None:
    assert known_revisions()[-1] == schema.HEAD


@both_new
def test_servers_may_start_at_once_on_an_empty_database(settings: Settings) -> None:
    starting = [python(settings, START) for _ in range(3)]
    assert [ended(server) for server in starting] == [0, 0, 0]
    store = open_store(settings)
    assert revision(store.engine) == schema.HEAD
    store.close()


def tables_made(settings: Settings, cluster: Cluster, servers: int) -> list[str]:
    """What PostgreSQL itself tells of the tables that so many servers made which started at once."""
    assert settings.database_url is not None
    name = settings.database_url.rpartition("/")[2]
    cluster.tell(settings.database_url, f"alter database {name} set log_statement = 'ddl'")
    before = len(cluster.log.read_text())
    starting = [python(settings, START) for _ in range(servers)]
    assert [ended(server) for server in starting] == [0] * servers
    told = cluster.log.read_text()[before:]
    assert "ERROR" not in told
    return re.findall(r"CREATE TABLE (\w+)", told)


@postgresql
def test_servers_that_start_at_once_migrate_once(settings: Settings, cluster: Cluster) -> None:
    """Three make what one makes, and nothing goes wrong meanwhile."""
    with cluster.lent(tables=False) as url:
        alone = tables_made(msgspec.structs.replace(settings, database_url=url), cluster, 1)
    assert {"alembic_version", *schema.metadata.tables} <= set(alone)
    assert tables_made(settings, cluster, 3) == alone


@both_new
@pytest.mark.parametrize("table", ["alembic_version", "attempts", "progress", "decisions"])
def test_a_migration_that_is_killed_leaves_nothing_behind(settings: Settings, table: str) -> None:
    assert ended(python(settings, DIES, table)) == -signal.SIGKILL
    engine = engine_of(settings)
    assert revision(engine) is None
    engine.dispose()
    store = open_store(settings)
    store.ping()
    assert revision(store.engine) == schema.HEAD
    store.close()


@both_new
def test_a_database_of_a_newer_program_is_left_alone(settings: Settings) -> None:
    store = open_store(settings)
    with store.engine.begin() as connection:
        connection.execute(text("update alembic_version set version_num = '9999'"))
    store.close()
    with pytest.raises(StoreError) as refused:
        open_store(settings)
    assert (refused.value.code, refused.value.detail) == ("newer", "9999")


# ---- what is kept ------------------------------------------------------------------------------------


@both_new
def test_what_was_kept_is_there_after_a_restart(settings: Settings) -> None:
    place = Place("c" * 32, "main", 1)
    store = open_store(settings)
    locked = store.lock(place, {"x": 1.0}, confidence=1, why="é")
    store.close()
    again = open_store(settings)
    assert again.prediction(place) == locked
    again.close()


@both_new
def test_kill_9_loses_no_acknowledged_lock(settings: Settings) -> None:
    writer = python(settings, LOCKS)
    assert writer.stdout is not None
    acknowledged = [int(writer.stdout.readline()) for _ in range(50)]
    writer.send_signal(signal.SIGKILL)
    rest, _ = writer.communicate()
    acknowledged += [int(line) for line in rest.split("\n")[:-1]]
    store = open_store(settings)
    with store.engine.connect() as connection:
        rows = connection.execute(select(schema.predictions.c.learner, schema.predictions.c.answers)).all()
    found = dict(tuple(row) for row in rows)
    assert len(found) == len(rows)
    for number in acknowledged:
        assert found[f"{number:032x}"] == {"x": number}
    store.close()


# ---- SQLite's file -------------------------------------------------------------------------------------


def test_the_file_is_for_this_user_only(settings: Settings) -> None:
    open_store(settings).close()
    assert stat.S_IMODE(settings.data.stat().st_mode) == 0o700
    for file in settings.data.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert (settings.data / DATABASE).exists()


def test_every_connection_waits_and_syncs(settings: Settings) -> None:
    store = open_store(settings)
    with store.engine.connect() as connection:
        found = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in (pragma.split("=")[0] for pragma in PRAGMAS)
        }
    store.close()
    assert found == {"journal_mode": "wal", "synchronous": 2, "busy_timeout": 5000, "foreign_keys": 1}


def test_a_database_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    (tmp_path / DATABASE).write_bytes(b"no database at all, only some text that is long enough to look at")
    with pytest.raises(StoreError, match="cannot be read") as refused:
        open_store(Settings(data=tmp_path))
    assert refused.value.code == "broken"


# ---- PostgreSQL's address --------------------------------------------------------------------------------


@postgresql
def test_a_plain_address_takes_our_driver_and_the_disk_is_waited_for(settings: Settings) -> None:
    assert settings.database_url is not None
    for scheme in ("postgresql", "postgresql+psycopg", "postgres"):
        engine = make_engine(f"{scheme}{settings.database_url.removeprefix('postgresql')}")
        with engine.connect() as connection:
            assert connection.execute(text("show fsync")).scalar() == "on"
            assert connection.execute(text("show synchronous_commit")).scalar() == "on"
            assert connection.execute(text("show lock_timeout")).scalar() == "5s"
        assert engine.driver == "psycopg"
        engine.dispose()


@pytest.mark.parametrize("wrong", ["port", "password", "database"])
def test_a_postgresql_that_cannot_be_had_says_so(tmp_path: Path, cluster: Cluster, wrong: str) -> None:
    """Without its password, nor any part of the address: the whole text of the error is looked at."""
    address = {"port": cluster.port, "password": PASSWORD, "database": "postgres"}
    address |= {wrong: {"port": free_port(), "password": "wr0ng-secret", "database": "nowhere"}[wrong]}
    url = "postgresql://lab:{password}@127.0.0.1:{port}/{database}".format(**address)
    with pytest.raises(StoreError) as refused:
        open_store(Settings(data=tmp_path, database_url=url))
    assert refused.value.code == "unreachable"
    assert not any(str(part) in str(refused.value) for part in (*address.values(), "127.0.0.1"))


# ---- where it is ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("linux", {"HOME": "/h"}, "/h/.local/share/ticklab"),
        ("linux", {"HOME": "/h", "XDG_DATA_HOME": "/x"}, "/x/ticklab"),
        ("darwin", {"HOME": "/h"}, "/h/Library/Application Support/ticklab"),
        ("win32", {"HOME": "/h", "LOCALAPPDATA": "/l"}, "/l/ticklab"),
    ],
)
def test_each_platform_has_its_own_place(platform: str, environment: dict[str, str], expected: str) -> None:
    assert user_data_folder(environment, platform) == Path(expected)


def test_the_environment_names_database_and_folder() -> None:
    found = read_settings(
        {"TICKLAB_DATA": "/somewhere", "TICKLAB_DATABASE_URL": "postgresql+psycopg://u@h/d"}
    )
    assert found.data == Path("/somewhere")
    assert found.database_url == "postgresql+psycopg://u@h/d"
