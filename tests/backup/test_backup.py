"""A class in a file: what went in comes out, on whichever database, all of it or nothing."""

from __future__ import annotations

import hashlib
import json
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from app.backup import BackupError, backup, restore
from app.store import Place, Store, schema
from app.store.database import known_revisions, revision, upgrade
from tests.databases import POSTGRESQL, SQLITE
from tests.rows import content, fill
from tests.serving import PATIENCE

KINDS = (SQLITE, POSTGRESQL)
NewEngine = Callable[[str], Engine]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "class.jsonl"


def full(engine: Engine, count: int = 3, *, at: str = "head") -> Engine:
    upgrade(engine, at)
    fill(engine, count)
    return engine


def total(engine: Engine) -> int:
    return sum(len(rows) for rows in content(engine).values())


def forged(file: Path, change: Callable[[list[str]], list[str]]) -> Path:
    """``file`` with other lines and a last line that fits them."""
    lines = change(file.read_text().splitlines()[:-1])
    rows: dict[str, int] = {}
    for line in lines[1:]:
        name = json.loads(line).get("table")
        rows |= {name: 0} if name else {list(rows)[-1]: rows[list(rows)[-1]] + 1}
    body = "".join(f"{line}\n" for line in lines)
    foot = {"rows": rows, "sha256": hashlib.sha256(body.encode()).hexdigest()}
    file.write_text(body + json.dumps(foot) + "\n")
    return file


# ---- there and back ------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", KINDS)
@pytest.mark.parametrize("target", KINDS)
def test_what_goes_in_comes_out(new_engine: NewEngine, file: Path, source: str, target: str) -> None:
    old, new = full(new_engine(source)), new_engine(target)
    counts = backup(old, file)
    assert counts.keys() == schema.metadata.tables.keys()
    assert set(counts.values()) == {3}
    assert restore(new, file) == counts
    assert content(new) == content(old)
    assert revision(new) == schema.HEAD


@pytest.mark.parametrize("kind", KINDS)
def test_more_rows_than_are_held_at_once(new_engine: NewEngine, file: Path, kind: str) -> None:
    old, new = full(new_engine(SQLITE), 1203), new_engine(kind)
    backup(old, file)
    restore(new, file)
    assert content(new) == content(old)


@pytest.mark.parametrize("source", KINDS)
@pytest.mark.parametrize("target", KINDS)
def test_a_lock_step_that_was_released_comes_out(
    new_engine: NewEngine, file: Path, source: str, target: str
) -> None:
    """Its decision has no tick: JSON's null, where the column takes no NULL."""
    old, new = new_engine(source), new_engine(target)
    upgrade(old)
    classes = Store(old).classes
    led = classes.start().id
    for tick in (3, None):
        classes.decide(led, "tick", tick, exercise="main")
    backup(old, file)
    restore(new, file)
    assert content(new) == content(old)
    assert Store(new).classes.decided(led).of("main") == {"tick": None}


@pytest.mark.parametrize("kind", KINDS)
def test_a_restored_class_goes_on(new_engine: NewEngine, file: Path, kind: str) -> None:
    """New rows get new numbers, after those that were put in."""
    backup(full(new_engine(SQLITE)), file)
    new = new_engine(kind)
    restore(new, file)
    store = Store(new)
    before = store.predictions()
    added = store.lock(Place("f" * 32, "main", 1), {"x": 1}, confidence=None, why="")
    assert store.predictions() == [*before, added]


@pytest.mark.parametrize("start", known_revisions())
@pytest.mark.parametrize("kind", KINDS)
def test_a_backup_of_an_earlier_version_comes_up_to_date(
    new_engine: NewEngine, file: Path, kind: str, start: str
) -> None:
    """The same as if its database had been brought up to date in its place."""
    old, new = full(new_engine(SQLITE), at=start), new_engine(kind)
    backup(old, file)
    assert revision(old) == start
    restore(new, file)
    upgrade(old)
    assert content(new) == content(old)
    assert revision(new) == schema.HEAD


def test_the_file_is_for_this_user_only_and_never_half_there(new_engine: NewEngine, file: Path) -> None:
    engine = full(new_engine(SQLITE))
    backup(engine, file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    before = file.read_bytes()
    with pytest.raises(BackupError) as refused:
        backup(engine, file)
    assert refused.value.code == "exists"
    assert file.read_bytes() == before
    assert [one.name for one in file.parent.iterdir() if one.is_file()] == [file.name]


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_one_moment_while_others_write(new_engine: NewEngine, file: Path, kind: str) -> None:
    """Every lock writes to two tables at once; in the file each has both or neither."""
    engine = new_engine(kind)
    upgrade(engine)
    store, stop = Store(engine), threading.Event()
    written = threading.Semaphore(0)

    def go_on() -> None:
        number = 0
        while not stop.is_set():
            place = Place(f"{number:032x}", "main", 1)
            with engine.begin() as connection:
                for table in (schema.attempts, schema.drafts):
                    row = {"learner": place.learner, "exercise": "main", "attempt": 1}
                    row |= {"started": store.clock()} if table is schema.attempts else {}
                    row |= (
                        {"answers": {}, "why": "", "saved": store.clock()} if table is schema.drafts else {}
                    )
                    connection.execute(table.insert().values(row))
            number += 1
            written.release()

    writer = threading.Thread(target=go_on)
    writer.start()
    try:
        for number in range(5):
            assert written.acquire(timeout=PATIENCE)
            counts = backup(engine, file.with_name(f"{number}.jsonl"))
            assert counts["attempts"] == counts["drafts"] > 0
    finally:
        stop.set()
        writer.join()


# ---- all or nothing ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_given_up_only_when_told_so(new_engine: NewEngine, file: Path, kind: str) -> None:
    backup(full(new_engine(SQLITE), 3), file)
    other = full(new_engine(kind), 5)
    before = content(other)
    with pytest.raises(BackupError) as refused:
        restore(other, file)
    assert refused.value.code == "rows"
    assert content(other) == before
    restore(other, file, replace=True)
    assert total(other) == 3 * len(schema.metadata.tables)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("twice", ["attempts", sorted(schema.metadata.tables)[-1]])
def test_what_the_database_refuses_leaves_all_as_it_was(
    new_engine: NewEngine, file: Path, kind: str, twice: str
) -> None:
    """A file that contradicts itself is found out by the database, when much of it is in already."""
    backup(full(new_engine(SQLITE)), file)

    def repeat(lines: list[str]) -> list[str]:
        place = lines.index(json.dumps({"table": twice}, separators=(",", ":")))
        return [*lines[: place + 2], lines[place + 1], *lines[place + 2 :]]

    other = full(new_engine(kind), 5)
    before = content(other)
    with pytest.raises(BackupError) as refused:
        restore(other, forged(file, repeat), replace=True)
    assert refused.value.code == "refused"
    assert content(other) == before
    assert revision(other) == schema.HEAD


@pytest.mark.parametrize("kind", KINDS)
def test_tables_of_others_are_left_alone(new_engine: NewEngine, file: Path, kind: str) -> None:
    engine = full(new_engine(kind))
    with engine.begin() as connection:
        connection.execute(text("create table theirs (x integer)"))
        connection.execute(text("insert into theirs values (7)"))
    assert "theirs" not in backup(engine, file)
    restore(engine, file, replace=True)
    assert content(engine)["theirs"] == [{"x": 7}]


# ---- files that are not right ----------------------------------------------------------------------------

DAMAGES: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "empty": (lambda whole: b"", "foreign"),
    "no backup": (lambda whole: b'{"learner": 1}\n', "foreign"),
    "binary": (lambda whole: bytes(range(256)), "foreign"),
    "another format": (lambda whole: whole.replace(b"ticklab-backup-1", b"ticklab-backup-9"), "foreign"),
    "newer": (
        lambda whole: whole.replace(f'"revision":"{schema.HEAD}"'.encode(), b'"revision":"9999"'),
        "newer",
    ),
    "cut in a line": (lambda whole: whole[:-30], "cut"),
    "cut at a line": (lambda whole: b"".join(whole.splitlines(True)[:-1]), "line"),
    "one row less": (
        lambda whole: b"".join(whole.splitlines(True)[:3] + whole.splitlines(True)[4:]),
        "changed",
    ),
    "one letter changed": (lambda whole: whole.replace(b'"attempt":1', b'"attempt":7', 1), "changed"),
    "two backups": (lambda whole: whole + whole, "line"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_changes_nothing(new_engine: NewEngine, file: Path, damage: str) -> None:
    engine = full(new_engine(SQLITE))
    backup(engine, file)
    before = content(engine)
    change, code = DAMAGES[damage]
    file.write_bytes(change(file.read_bytes()))
    with pytest.raises(BackupError) as refused:
        restore(engine, file, replace=True)
    assert refused.value.code == code
    assert content(engine) == before


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"attempt":1', '"attempt":"one"', "Expected `int`, got `str` - at `$.attempt`"),
        ('"attempt":1,', "", "missing required field `attempt`"),
        ('"attempt":1', '"attempt":1,"more":2', "unknown field `more`"),
        ('"attempt":1', f'"attempt":{2**70}', "$.attempt"),
        ('"learner":"', '"learner":"' + "x" * 70, "length <= 64"),
        ("+00:00", "", "timezone"),
        ('{"table":"attempts"}', '{"table":"attempts","x":1}', "unknown field `x`"),
    ],
)
def test_a_row_that_is_not_right_is_named(
    new_engine: NewEngine, file: Path, old: str, new: str, said: str
) -> None:
    """Though the last line fits: before anything is written, with its line and what would be right."""
    backup(full(new_engine(SQLITE)), file)
    lines = file.read_text().splitlines()
    place = next(number for number, line in enumerate(lines[1:], 1) if old in line.replace('Z"', '+00:00"'))
    lines[place] = lines[place].replace('Z"', '+00:00"').replace(old, new, 1)
    forged_lines = lines[:-1]
    body = "".join(f"{line}\n" for line in forged_lines)
    foot = json.loads(lines[-1]) | {"sha256": hashlib.sha256(body.encode()).hexdigest()}
    file.write_text(body + json.dumps(foot) + "\n")
    target = new_engine(SQLITE)
    with pytest.raises(BackupError) as refused:
        restore(target, file)
    assert refused.value.code == "line"
    assert refused.value.values["line"] == place + 1
    assert said in str(refused.value.values["reason"])
    assert revision(target) is None


def test_a_table_nobody_knows_is_named(new_engine: NewEngine, file: Path) -> None:
    backup(full(new_engine(SQLITE)), file)
    forged(file, lambda lines: [*lines, '{"table":"users"}'])
    with pytest.raises(BackupError) as refused:
        restore(new_engine(SQLITE), file)
    assert (refused.value.code, refused.value.values["table"]) == ("table", "users")
