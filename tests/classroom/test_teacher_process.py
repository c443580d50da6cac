"""The teacher's server is a process of its own: what it loads, when it ends, that it comes back."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.classroom.running import ClassServing, Teacher, Visitor
from tests.serving import PATIENCE, ROOT, is_alive

DATABASE = b'"database": true'
LOADED = """
import sys
import app.teacher.child
print([name for name in ("panel", "bokeh", "torch") if name in sys.modules])
"""


@pytest.fixture
def own(tmp_path: Path) -> Iterator[ClassServing]:
    server = ClassServing(tmp_path)
    server.start(ready=DATABASE)
    yield server
    server.stop()


def until(true: Callable[[], bool], what: str) -> None:
    give_up = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < give_up, what
        time.sleep(0.05)


def test_it_loads_neither_panel_nor_torch() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, check=True, cwd=ROOT, env=os.environ
    )
    assert done.stdout.strip() == "[]"


def test_what_runs_has_no_torch_in_it(school: ClassServing) -> None:
    Teacher(school).get("/teach?show=1")
    maps = Path(f"/proc/{school.teacher_process()}/maps").read_text()
    assert "libtorch" not in maps


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
def test_it_ends_with_the_learners_server_however_that_ends(own: ClassServing, how: signal.Signals) -> None:
    assert own.process is not None
    child = own.teacher_process()
    own.process.send_signal(how)
    own.process.wait(timeout=PATIENCE)
    own.process = None
    until(lambda: not is_alive(child), "the teacher's server outlives its parent")


def test_a_server_that_is_killed_is_started_again_and_knows_its_teacher(own: ClassServing) -> None:
    teacher, first = Teacher(own), own.teacher_process()
    os.kill(first, signal.SIGKILL)
    until(lambda: not is_alive(first), "it was killed")
    own.wait_for_teacher()
    assert own.teacher_process() != first
    assert teacher.get("/teach").status == 200
    assert "is started again" in own.log.read_text()
    assert Visitor(own.url).get("/healthz").status == 200


def test_its_secrets_are_on_no_command_line(own: ClassServing) -> None:
    from app.classroom.keys import keys_in

    keys = keys_in(own.folder / "data")
    line = Path(f"/proc/{own.teacher_process()}/cmdline").read_text()
    environment = Path(f"/proc/{own.teacher_process()}/environ").read_text()
    assert keys.teacher not in line + environment


def test_a_restart_goes_on_with_the_class(own: ClassServing) -> None:
    teacher = Teacher(own)
    teacher.post("/teach/classes/rename", **{"class": 1, "name": "Monday"})
    teacher.direct(phase="vote1")
    own.stop(kill=True)
    own.start(ready=DATABASE)
    page = teacher.get("/teach?exercise=main").text
    assert "Monday" in page
    assert 'value="vote1" aria-current="step"' in page


def test_a_class_whose_days_are_over_is_gone_after_a_restart(own: ClassServing) -> None:
    store = own.store()
    store.classes.start("old", keep_days=1)
    old = store.classes.current()
    assert old is not None
    store.classes.start("new")
    with store.engine.begin() as connection:
        connection.exec_driver_sql(f"update classes set expires = '2020-01-01' where id = {old.id}")
    own.stop()
    own.start(ready=DATABASE)
    assert [one.name for one, _ in store.classes.all() if one.id == old.id] == []
    store.close()
