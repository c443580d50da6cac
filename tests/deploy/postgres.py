"""A PostgreSQL of the test's own: Debian's programs, a new cluster in a temporary folder, a free port."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

from tests.serving import free_port

PLACES = ("/usr/lib/postgresql",)
PATIENCE = 240.0  # seconds it may take to start or to end on a machine that is very busy
UNPRIVILEGED = ("postgres", "nobody")  # it refuses to run as root


def programs() -> Path:
    """The folder of the newest installed PostgreSQL's programs."""
    found = sorted(path.parent for place in PLACES for path in Path(place).glob("*/bin/initdb"))
    assert found, "these tests need PostgreSQL: python -m tests.prepare installs it"
    return found[-1]


@contextmanager
def cluster() -> Iterator[str]:
    """The SQLAlchemy URL of an empty database, for the time of the block."""
    folder, other = Path(tempfile.mkdtemp(prefix="ticklab-postgres-")), ordinary_user()
    port = free_port()
    if "user" in other:
        os.chown(folder, other["user"], other["group"])
    initdb = [programs() / "initdb", "-D", folder / "data", "-U", "lab", "--auth=trust", "--encoding=UTF8"]
    subprocess.run([*initdb, "--locale=C"], check=True, capture_output=True, cwd=folder, **other)
    start = [programs() / "postgres", "-D", folder / "data", "-p", str(port), "-k", "", "-h", "127.0.0.1"]
    process = subprocess.Popen(
        start, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **other
    )
    try:
        _wait(f"postgresql://lab@127.0.0.1:{port}/postgres")
        yield f"postgresql+psycopg://lab@127.0.0.1:{port}/postgres"
    finally:
        process.send_signal(signal.SIGINT)  # its fast way: whoever is connected is sent away
        process.wait(timeout=PATIENCE)
        shutil.rmtree(folder)


def ordinary_user() -> dict[str, Any]:
    """What makes a child an ordinary user when we are root."""
    if os.geteuid() != 0:
        return {}
    users = {user.pw_name: user for user in pwd.getpwall()}
    user = next(users[name] for name in UNPRIVILEGED if name in users)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def _wait(url: str) -> None:
    give_up = time.monotonic() + PATIENCE
    while True:
        try:
            psycopg.connect(url).close()
            return
        except psycopg.OperationalError:
            if time.monotonic() > give_up:
                raise
            time.sleep(0.05)
