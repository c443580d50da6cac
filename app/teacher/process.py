"""The learners' server's end: starts the teacher's server, and starts it again when it has ended."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
from types import TracebackType

import msgspec

from app.classroom.classroom import Classroom
from app.journal import tell
from app.worker.client import child_environment

PAUSE = 1.0  # seconds before a server that has ended is started again
GRACE = 5.0  # seconds to end by itself


class TeacherProcess:
    """The teacher's server for the time of a ``with`` block.

    It holds the reading end of a pipe and ends with the pipe: when the block ends, and also when this
    process is killed.
    """

    def __init__(self, classroom: Classroom) -> None:
        self._message = msgspec.json.encode({"options": classroom.options, "keys": classroom.keys}) + b"\n"
        self._over = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._watcher = threading.Thread(target=self._watch, name="teacher", daemon=True)

    def __enter__(self) -> TeacherProcess:
        self._process = self._start()
        self._watcher.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        process = self._process
        if process is None or process.stdin is None:
            return
        process.stdin.close()
        try:
            process.wait(GRACE)
        except subprocess.TimeoutExpired:
            process.kill()

    def _start(self) -> subprocess.Popen[bytes]:
        """A new process; its secrets go through the pipe, not through a command line."""
        process = subprocess.Popen(
            [sys.executable, "-m", "app.teacher.child"], stdin=subprocess.PIPE, env=child_environment()
        )
        assert process.stdin is not None
        process.stdin.write(self._message)
        process.stdin.flush()
        return process

    def _watch(self) -> None:
        while not self._over.is_set():
            assert self._process is not None
            status = self._process.wait()
            if self._over.wait(PAUSE):
                return
            tell("teacher.ended", logging.ERROR, status=status)
            self._process = self._start()
