"""The server is killed while a class locks: what was acknowledged is there, once; the rest can be locked."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from sqlalchemy import select

from app.settings import Settings
from app.state import Lesson
from app.store import open_store, schema
from tests.app.classroom import classroom
from tests.databases import both
from tests.faults.learners import LOCKED, Learner
from tests.serving import ROOT, Serving

LEARNERS = 500
DATABASE = b'"database": true'  # nobody runs anything

# A server's lessons and store, forty learners at a time; a line for each lock that is acknowledged.
CLASS = """
import asyncio, sys
from app.server import Server
from app.settings import read_settings
from app.state import Lesson
from tests.classroom.running import right_answers

TEXTS = {key: str(value) for key, value in right_answers().items()}

async def learner(server, number, seats):
    async with seats:
        lesson = Lesson(server=server, learner=f"{number:032x}")
        await lesson.read()
        assert await lesson.lock(TEXTS | {"why": sys.argv[1]}) == {}
        assert lesson.locked
        print(number, lesson.prediction.why, flush=True)

async def main():
    server, seats = Server(read_settings()), asyncio.Semaphore(40)
    await asyncio.gather(*(learner(server, number, seats) for number in range(int(sys.argv[2]))))
    await asyncio.to_thread(sys.stdin.read)  # it does not end by itself before it can be killed

asyncio.run(main())
"""


def attend(settings: Settings, day: int, *, kill_after: int | None) -> list[tuple[int, int]]:
    """Let the class lock, ``day`` being what each gives as a reason; (learner, reason) as acknowledged."""
    environment = os.environ | {
        "TICKLAB_DATA": str(settings.data),
        "TICKLAB_DATABASE_URL": settings.database_url or "",
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, "-c", CLASS, str(day), str(LEARNERS)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    server = subprocess.Popen(command, env=environment, text=True, **pipes)
    assert server.stdout is not None
    lines = [server.stdout.readline() for _ in range(kill_after or 0)]
    if kill_after is not None:
        server.send_signal(signal.SIGKILL)
    rest, _ = server.communicate()
    assert server.returncode == (-signal.SIGKILL if kill_after is not None else 0)
    lines += [f"{line}\n" for line in rest.split("\n")[:-1]]
    return [(int(line.split()[0]), int(line.split()[1])) for line in lines if line.endswith("\n")]


@both
async def test_500_locks_and_three_kills(settings: Settings) -> None:
    """Whoever heard “locked” has that very prediction; whoever did not locks again; nobody has two."""
    heard = [attend(settings, day, kill_after=count) for day, count in ((1, 60), (2, 150), (3, 300))]
    heard.append(attend(settings, 4, kill_after=None))
    store = open_store(settings)
    with store.engine.connect() as connection:
        rows = connection.execute(select(schema.predictions.c.learner, schema.predictions.c.why)).all()
    store.close()
    kept = {int(learner, 16): int(why) for learner, why in rows}
    assert len(rows) == len(kept) == LEARNERS
    for acknowledged in heard:
        assert all(kept[learner] == reason for learner, reason in acknowledged)
    assert len(heard[-1]) == LEARNERS
    assert len(Counter(kept.values())) > 1  # some were locked before a kill and some after it


@both
async def test_a_lock_whose_next_step_was_not_noted_opens_the_run(settings: Settings) -> None:
    """Killed between the lock and the note of what follows from it: the learner comes back to the run."""
    server = classroom(settings)
    before = Lesson(server=server, learner="d" * 32)
    await before.read()
    server.store.lock(before.place, {"x": 1}, confidence=None, why="")
    after = Lesson(server=server, learner="d" * 32)
    assert after.locked
    assert after.step == "run"
    await after.run_step()
    assert server.store.progress(after.place).step == "run"
    await server.close()


@pytest.mark.slow
@both
async def test_a_served_class_is_killed_while_it_locks(settings: Settings, tmp_path: Path) -> None:
    server = Serving(tmp_path, TICKLAB_DATABASE_URL=settings.database_url or "")
    server.start(ready=DATABASE)
    learners = [Learner(server.page) for _ in range(12)]
    try:
        for learner in learners:
            learner.document = await learner.open()
            await learner.read()
        asked = [asyncio.create_task(press(learner, number)) for number, learner in enumerate(learners)]
        await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)
        server.stop(kill=True)
        told = [
            not isinstance(one, BaseException) for one in await asyncio.gather(*asked, return_exceptions=True)
        ]
        server.start(ready=DATABASE)
        for number, learner in enumerate(learners):
            async with Learner(server.page, learner.cookie) as again:
                assert again.form()["locked"] or not told[number]
                await again.lock(static__R02__ttft=900.0 + number)
                if not again.form()["locked"]:
                    await again.hear(LOCKED)
                assert (await again.now())["locked"]
    finally:
        server.stop()
        for learner in learners:
            if learner.socket is not None:
                learner.socket.close()
    data = Settings(data=tmp_path / "data", database_url=settings.database_url)
    store = open_store(data)
    found = store.predictions()
    store.close()
    assert len({one.place.learner for one in found}) == len(found) == len(learners)
    kept = {one.answers["static.R02.ttft"] for one in found}
    for number, was_told in enumerate(told):
        assert not was_told or 70.5 + number in kept
    assert True in told
    assert server.faults() == [], server.log.read_text()


async def press(learner: Learner, number: int) -> None:
    """Lock, and hear that it is locked. Fails when the server is killed meanwhile."""
    learner.heard.clear()
    await learner.lock(static__R02__ttft=70.5 + number)
    await learner.hear(LOCKED)
