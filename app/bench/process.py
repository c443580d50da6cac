"""A server of the benchmark's own: on a free port of loopback, with files that go when it goes."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import msgspec

ROOT = Path(__file__).parents[2]
READY = b'"worker": "ready"'
PATIENCE = 120.0  # seconds a server may take to start
GRACE = 10.0  # seconds it may take to end
CODE = "BENCH"
FLAGS = (  # those of the classroom line in the README
    *("--session-token-expiration", "43200", "--unused-session-lifetime", "900000"),
    *("--check-unused-sessions", "30000", "--keep-alive", "20000", "--warm"),
)


class ServerFailed(RuntimeError):
    """The server did not start; the text is the end of what it said."""


class Running(msgspec.Struct, frozen=True):
    """A server to measure: its address, the code of its class, its process (None: not ours)."""

    page: str
    code: str = ""
    pid: int | None = None


@contextmanager
def own_server(way: str, folder: str | None = None) -> Iterator[Running]:
    """A fresh server, started the given way, for the time of the block. Raises ServerFailed."""
    with tempfile.TemporaryDirectory(prefix="ticklab-bench-", dir=folder) as files:
        port = free_port()
        log = Path(files) / "server.log"
        with log.open("wb") as out:
            process = subprocess.Popen(
                command(way, port), cwd=ROOT, env=environment(files), stdout=out, stderr=out
            )
        try:
            _wait(process, port, log)
            code = CODE if way == "class" else ""
            yield Running(f"http://127.0.0.1:{port}/app", code, process.pid)
        finally:
            _end(process)


def command(way: str, port: int) -> list[str]:
    """How the server is started."""
    if way == "class":
        return [sys.executable, "-m", "app", "--port", str(port), "--join-code", CODE]
    return [sys.executable, "-m", "panel", "serve", str(ROOT / "app"), "--port", str(port), *FLAGS]


def environment(files: str) -> dict[str, str]:
    """Ours without settings of another class; one thread, and this very installation first on the path."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TICKLAB_")}
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    return kept | {"TICKLAB_DATA": str(Path(files) / "data"), "OMP_NUM_THREADS": "1", "PYTHONPATH": path}


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Until it says that its engine is ready."""
    give_up = time.monotonic() + PATIENCE
    while time.monotonic() < give_up and process.poll() is None:
        try:
            with urlopen(f"http://127.0.0.1:{port}/healthz", timeout=10) as answer:
                if READY in answer.read():
                    return
        except (URLError, OSError):
            pass
        time.sleep(0.1)
    raise ServerFailed("\n".join(log.read_text(errors="replace").splitlines()[-5:]))


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def free_port() -> int:
    """A port of loopback that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


# ---- what a process has used ---------------------------------------------------------------------------


def cpu_seconds(pid: int | None) -> float | None:
    """CPU seconds that the process has used, None where nobody can tell (no /proc, not our server)."""
    fields = _proc(pid, "stat").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") if fields else None


def memory_bytes(pid: int | None) -> int | None:
    """Resident bytes of the process, None where nobody can tell."""
    lines = _proc(pid, "status").splitlines()
    found = [line.split()[1] for line in lines if line.startswith("VmRSS:")]
    return int(found[0]) * 1024 if found else None


def _proc(pid: int | None, name: str) -> str:
    try:
        return Path(f"/proc/{pid}/{name}").read_text()
    except OSError:
        return ""
