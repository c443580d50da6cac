"""A real PostgreSQL for tests: a cluster of their own in a temporary folder, on a free port."""

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

from tests.prepare import postgresql
from tests.serving import free_port

USER = "lab"
PASSWORD = "s3cret-pass_word"  # of a cluster that lives as long as these tests; no log may ever show it
PATIENCE = 240.0  # seconds it may take to start or to end
UNPRIVILEGED = ("postgres", "nobody")  # PostgreSQL refuses to run as root


class Cluster:
    """``start`` and ``stop`` it; it lends databases of its own."""

    def __init__(self) -> None:
        found = postgresql()
        assert found, "these tests need PostgreSQL: python -m tests.prepare installs it"
        self.programs = found
        self.port = free_port()
        # Not below pytest's folder: that one is closed to the user PostgreSQL runs as.
        self.folder = Path(tempfile.mkdtemp(prefix="ticklab-postgres-"))
        self.log = self.folder / "log"
        self.process: subprocess.Popen[bytes] | None = None
        self._made = 0
        self._free: dict[bool, list[str]] = {True: [], False: []}  # with tables, without
        self._initialise()

    def _initialise(self) -> None:
        password = self.folder / "password"
        password.write_text(PASSWORD)
        if os.geteuid() == 0:
            other = ordinary_user()
            for path in (self.folder, password):
                os.chown(path, other["user"], other["group"])
        command = [self.programs / "initdb", "-D", self.data, "-U", USER, f"--pwfile={password}"]
        command += ["--auth=scram-sha-256", "--encoding=UTF8", "--locale=C"]
        done = subprocess.run(command, capture_output=True, text=True, **self._here(), check=False)
        assert done.returncode == 0, done.stderr

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def _here(self) -> dict[str, Any]:
        return ordinary_user() | {"cwd": self.folder}

    def start(self) -> None:
        """Start it and wait until it lets somebody in."""
        settings = {"listen_addresses": "127.0.0.1", "port": self.port, "unix_socket_directories": ""}
        settings |= {"shared_buffers": "16MB", "max_connections": 60}
        command = [str(self.programs / "postgres"), "-D", str(self.data)]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, **self._here())
        self._wait()

    def _wait(self) -> None:
        give_up = time.monotonic() + PATIENCE
        while time.monotonic() < give_up:
            assert self.process is not None
            assert self.process.poll() is None, self.log.read_text()
            try:
                self.connect().close()
                return
            except psycopg.OperationalError:
                time.sleep(0.05)
        raise TimeoutError(f"no PostgreSQL after {PATIENCE:g} s:\n{self.log.read_text()}")

    def connect(self, database: str = "postgres") -> psycopg.Connection[Any]:
        """A connection of our own, each statement its own transaction."""
        return psycopg.connect(
            host="127.0.0.1",
            port=self.port,
            user=USER,
            password=PASSWORD,
            dbname=database,
            autocommit=True,
            connect_timeout=60,
        )

    @contextmanager
    def lent(self, *, tables: bool = True) -> Iterator[str]:
        """The URL of a database without rows, or without tables, for as long as the block: made once and
        lent again, since making one takes longer than emptying it."""
        free = self._free[tables]
        url = free.pop() if free else self._make()
        try:
            yield url
        finally:
            self._empty(url) if tables else self._clear(url)
            free.append(url)

    def _make(self) -> str:
        self._made += 1
        name = f"lab{self._made}"
        with self.connect() as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE template0")
        return f"postgresql://{USER}:{PASSWORD}@127.0.0.1:{self.port}/{name}"

    def _empty(self, url: str) -> None:
        found = self.tell(url, "select tablename from pg_tables where schemaname = 'public'")
        tables = [name for (name,) in found if name != "alembic_version"]
        if tables:
            self.tell(url, f"truncate {', '.join(tables)} restart identity cascade")

    def _clear(self, url: str) -> None:
        self.tell(url, "drop schema public cascade")
        self.tell(url, "create schema public")

    def tell(self, url: str, statement: str) -> list[Any]:
        """Carry out ``statement`` in the database of ``url``; the rows it gives."""
        with self.connect(url.rpartition("/")[2]) as connection:
            done = connection.execute(statement)
            return done.fetchall() if done.description else []

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """End it, and with it every connection: SIGINT is its fast way, SIGQUIT as if it had crashed."""
        if self.process is None:
            return
        self.process.send_signal(how)
        self.process.wait(timeout=PATIENCE)
        self.process = None

    def remove(self) -> None:
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder)


def ordinary_user() -> dict[str, Any]:
    """What makes a child a user who may do nothing in particular, when we are root."""
    if os.geteuid() != 0:
        return {}
    users = {user.pw_name: user for user in pwd.getpwall()}
    user = next(users[name] for name in UNPRIVILEGED if name in users)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
