"""A real server for tests: ``panel serve app`` on a port and with files of its own."""

from __future__ import annotations

import itertools
import os
import random
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

ROOT = Path(__file__).parents[1]
OURS = re.compile(rf'File "{re.escape(str(ROOT))}/(app|engine|puzzles)/')
PANEL = Path(sys.executable).with_name("panel")  # the command that a reader types
READY = b'"worker": "ready"'
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "TICKLAB_COMMAND_SECONDS": "240"}  # a busy engine is no lost one
PATIENCE = 240.0  # seconds a server may take to answer on a machine that is very busy
LOWEST, PORTS = 12_000, 2_000  # ports of a test process: below those that the system gives to whoever asks


class Serving:
    """A running server: its address, its files, its log; ``stop`` and ``start`` it again on the same port."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.folder = folder
        self.port = free_port()
        self.at(self.port)
        self.log = folder / "server.log"
        self.environment = environment
        self.options: list[str] = []  # of the command line, beside the port
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def prefix(self) -> str:
        """The path under which it was told to show the lab."""
        return self.options[self.options.index("--prefix") + 1] if "--prefix" in self.options else ""

    def at(self, port: int) -> None:
        """Let browsers come by this port: the server's own, or that of something in between."""
        self.url = f"http://127.0.0.1:{port}"
        self.page = f"{self.url}/app"

    def start(self, *, ready: bytes = READY) -> None:
        """Start it and wait until its health says ``ready``."""
        environment = os.environ | ENVIRONMENT | {"TICKLAB_DATA": str(self.folder / "data")}
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [str(PANEL), "serve", "app", "--port", str(self.port), *self.options],
                cwd=ROOT,
                env=environment | self.environment,
                stdout=log,
                stderr=log,
            )
        self._wait(ready)

    def _wait(self, ready: bytes) -> None:
        give_up = time.monotonic() + PATIENCE
        while time.monotonic() < give_up:
            assert self.process is not None
            assert self.process.poll() is None, f"the server ended:\n{self.log.read_text()}"
            try:
                if ready in Answer(f"http://127.0.0.1:{self.port}{self.prefix}/healthz").body:
                    return
            except (URLError, ConnectionError, TimeoutError):
                pass
            time.sleep(0.1)
        raise TimeoutError(f"no server after {PATIENCE:g} s:\n{self.log.read_text()}")

    def stop(self, *, kill: bool = False) -> None:
        """End it by its own process id, and wait for its end."""
        if self.process is None:
            return
        self.process.kill() if kill else self.process.terminate()
        self.process.wait(timeout=PATIENCE)
        self.process = None

    def faults(self) -> list[str]:
        """Lines of the log in which an error passed through our own code."""
        return [line for line in self.log.read_text().splitlines() if OURS.search(line)]

    def measure(self) -> None:
        """Let it show its figures from its next start on."""
        self.environment["TICKLAB_METRICS"] = f"127.0.0.1:{free_port()}"

    def figure(self, name: str) -> int:
        """One of the figures that it shows to Prometheus."""
        text = Answer(f"http://{self.environment['TICKLAB_METRICS']}/metrics").text
        (value,) = re.findall(rf"^{name} (\S+)$", text, re.MULTILINE)
        return int(float(value))

    def wait_until_asked(self) -> None:
        """Until its engine has something to do."""
        give_up = time.monotonic() + PATIENCE
        while self.figure("ticklab_engine_queue") == 0:
            assert time.monotonic() < give_up, "nobody asked the engine"
            time.sleep(0.05)

    def worker(self) -> int:
        """The process id of its engine."""
        assert self.process is not None
        return child_of(self.process.pid, b"app.worker.child")


@contextmanager
def serving(folder: Path, **environment: str) -> Iterator[Serving]:
    """A server for the time of the block."""
    server = Serving(folder, **environment)
    try:
        server.start()
        yield server
    finally:
        server.stop()


def child_of(parent: int, mark: bytes) -> int:
    """The process id of a child whose command line has ``mark`` in it."""
    for child in _children(parent):
        with suppress(OSError):  # it has ended meanwhile
            if mark in Path(f"/proc/{child}/cmdline").read_bytes():
                return child
    raise LookupError(f"no child of {parent} has {mark!r} in its command line")


def _children(parent: int) -> Iterator[int]:
    for children in Path(f"/proc/{parent}/task").glob("*/children"):
        with suppress(OSError):  # that thread has ended meanwhile
            yield from map(int, children.read_text().split())


def is_alive(process: int) -> bool:
    """Whether the process runs; one that has ended and was not collected does not."""
    try:
        return " Z " not in Path(f"/proc/{process}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def _own_ports() -> Iterator[int]:
    """Every other port of this test process, round and round: no other process of these tests has them."""
    first = LOWEST + PORTS * (int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]) % 10)
    start = random.SystemRandom().randrange(0, PORTS, 2)
    yield from itertools.islice(itertools.cycle(range(first, first + PORTS, 2)), start // 2, None)


_ports = _own_ports()


def free_port() -> int:
    """A port on which nobody listens, nor on the next one, where the teacher's page is.

    A port that the system picks may be somebody else's before the server has it, or while it is restarted.
    """
    for port in _ports:
        with socket.socket() as learners, socket.socket() as teachers, suppress(OSError):
            learners.bind(("127.0.0.1", port))
            teachers.bind(("127.0.0.1", port + 1))
            return port
    raise OSError("there is no free port")


class Answer:
    """What a plain HTTP request got, whatever its status."""

    def __init__(self, url: str, **headers: str) -> None:
        try:
            with urlopen(Request(url, headers=headers), timeout=PATIENCE) as answer:
                self.status, self.headers, self.body = answer.status, answer.headers, answer.read()
        except HTTPError as error:
            with error:
                self.status, self.headers, self.body = error.code, error.headers, error.read()

    @property
    def text(self) -> str:
        return self.body.decode()
