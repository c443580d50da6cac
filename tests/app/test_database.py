"""The file, its schema, and what survives a server that is killed."""

from __future__ import annotations

import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from app.settings import DATABASE, Settings, read_settings, user_data_folder
from app.store import Place, open_store, schema
from app.store.database import MIGRATIONS, PRAGMAS, revision

START = """
import sys
from pathlib import Path
from app.settings import Settings
from app.store import Place, open_store

store = open_store(Settings(data=Path(sys.argv[1])))
"""

LOCKS = (
    START
    + """
for number in range(100_000):
    store.lock(Place(f"{number:032x}", "main", 1), {"x": number}, confidence=None, why="")
    print(number, flush=True)
"""
)


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


def test_the_migrations_make_the_schema(settings: Settings) -> None:
    store = open_store(settings)
    with store.engine.connect() as connection:
        differences = compare_metadata(MigrationContext.configure(connection), schema.metadata)
    assert differences == []
    assert revision(store.engine) == schema.HEAD
    store.close()


def test_head_is_the_newest_migration() -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    assert ScriptDirectory.from_config(config).get_current_head() == schema.HEAD


def test_what_was_kept_is_there_after_a_restart(settings: Settings) -> None:
    place = Place("c" * 32, "main", 1)
    store = open_store(settings)
    locked = store.lock(place, {"x": 1.0}, confidence=1, why="é")
    store.close()
    again = open_store(settings)
    assert again.prediction(place) == locked
    again.close()


def test_servers_may_start_at_once_on_an_empty_file(settings: Settings) -> None:
    starting = [subprocess.Popen([sys.executable, "-c", START, str(settings.data)]) for _ in range(3)]
    assert [server.wait(timeout=60) for server in starting] == [0, 0, 0]
    store = open_store(settings)
    assert revision(store.engine) == schema.HEAD
    store.close()


def test_kill_9_loses_no_acknowledged_lock(settings: Settings) -> None:
    writer = subprocess.Popen(
        [sys.executable, "-c", LOCKS, str(settings.data)], stdout=subprocess.PIPE, text=True
    )
    acknowledged = [int(writer.stdout.readline()) for _ in range(50)]
    writer.send_signal(signal.SIGKILL)
    rest, _ = writer.communicate()
    acknowledged += [int(line) for line in rest.split("\n")[:-1]]
    store = open_store(settings)
    for number in acknowledged:
        assert store.prediction(Place(f"{number:032x}", "main", 1)).answers == {"x": number}
    store.close()


def test_a_database_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    (tmp_path / DATABASE).write_bytes(b"no database at all, only some text that is long enough to look at")
    with pytest.raises(ConnectionError, match="cannot be read"):
        open_store(Settings(data=tmp_path))


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
