"""``python -m app`` for tests, browsers that keep cookies, and locks of learners who never were."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from contextlib import suppress
from http.cookiejar import Cookie, CookieJar
from pathlib import Path
from typing import Any

from app.classroom.keys import keys_in
from app.settings import Settings
from app.store import Place, Store, open_store
from puzzles import fields, load, solve
from tests.serving import ENVIRONMENT, PATIENCE, READY, ROOT, Answer, Serving, child_of, free_port, is_alive

TOKEN = re.compile(r'name="token" value="([0-9a-f]{64})"')


class ClassServing(Serving):
    """A running class; ``options`` are those of ``python -m app``, ``teacher`` is the other server."""

    def __init__(self, folder: Path, **environment: str) -> None:
        super().__init__(folder, **environment)
        self.teacher_port = free_port()
        self.teacher = f"http://127.0.0.1:{self.teacher_port}"

    def start(self, *, ready: bytes = READY) -> None:
        environment = os.environ | ENVIRONMENT | {"TICKLAB_DATA": str(self.folder / "data")}
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "app", *self.ports, *self.options],
                cwd=ROOT,
                env=environment | {"LANG": "C"} | self.environment,
                stdout=log,
                stderr=log,
            )
        self._wait(ready)
        self.wait_for_teacher()

    def stop(self, *, kill: bool = False) -> None:
        """End both servers: the teacher's notices the end of its parent, and holds its port until then."""
        teacher = 0
        if self.process is not None:
            with suppress(LookupError):
                teacher = self.teacher_process()
        super().stop(kill=kill)
        give_up = time.monotonic() + PATIENCE
        while teacher and is_alive(teacher):
            assert time.monotonic() < give_up, "the teacher's server outlives its parent"
            time.sleep(0.05)

    @property
    def ports(self) -> list[str]:
        return ["--port", str(self.port), "--teacher-port", str(self.teacher_port)]

    def wait_for_teacher(self) -> None:
        """Until the teacher's server answers."""
        give_up = time.monotonic() + PATIENCE
        while time.monotonic() < give_up:
            try:
                if Answer(f"{self.teacher}/teach").status == 403:
                    return
            except OSError:
                pass
            time.sleep(0.05)
        raise TimeoutError(f"no teacher's page:\n{self.log.read_text()}")

    def teacher_process(self) -> int:
        """The process id of the teacher's server."""
        assert self.process is not None
        return child_of(self.process.pid, b"app.teacher.child")

    def store(self) -> Store:
        """The store behind it, for locks that no browser made."""
        return open_store(Settings(data=self.folder / "data"))


class Reply:
    """What a request got, whatever its status."""

    def __init__(self, status: int, headers: Any, body: bytes, url: str) -> None:
        self.status, self.headers, self.body, self.url = status, headers, body, url

    @property
    def text(self) -> str:
        return self.body.decode()


class Visitor:
    """A browser without scripts: follows redirects and keeps its cookies."""

    def __init__(self, url: str) -> None:
        self.root = url
        self.jar = CookieJar()
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.jar))

    def get(self, path: str, **headers: str) -> Reply:
        return self.send(urllib.request.Request(self.root + path, headers=headers))

    def send(self, request: urllib.request.Request) -> Reply:
        try:
            with self._opener.open(request, timeout=PATIENCE) as answer:
                return Reply(answer.status, answer.headers, answer.read(), answer.url)
        except urllib.error.HTTPError as error:
            with error:
                return Reply(error.code, error.headers, error.read(), error.url)

    def cookie(self, name: str) -> Cookie:
        return next(cookie for cookie in self.jar if cookie.name == name)


class Teacher(Visitor):
    """The teacher's browser: it has come by the secret link."""

    def __init__(self, server: ClassServing) -> None:
        super().__init__(server.teacher)
        key = keys_in(server.folder / "data").teacher
        assert self.get(f"/teach?key={key}").status == 200

    def token(self) -> str:
        found = TOKEN.search(self.get("/teach/classes").text)
        assert found is not None
        return found[1]

    def post(self, path: str, *, origin: str | None = None, token: str | None = None, **values: Any) -> Reply:
        """Send a form as its page does, unless told otherwise."""
        form = {"token": self.token() if token is None else token, **values}
        body = urllib.parse.urlencode(form).encode()
        headers = {"Origin": origin or self.root}
        return self.send(urllib.request.Request(self.root + path, data=body, headers=headers))

    def direct(self, exercise: str = "main", **decisions: Any) -> None:
        """Decide ``phase``, ``tick`` or ``show_votes``, and be sure of it."""
        assert self.post("/teach/direct", exercise=exercise, sure=1, **decisions).status == 200


def right_answers(**wrong: Any) -> dict[str, Any]:
    """Right answers to all that the main exercise requires, but for ``wrong`` (``__`` for a dot)."""
    truth = solve(load("main"))
    found = {field.key: truth[field.key] for field in fields(load("main")) if field.required}
    return found | {key.replace("__", "."): value for key, value in wrong.items()}


def lock(store: Store, number: int, *, confidence: int | None = 2, why: str = "", **wrong: Any) -> None:
    """Lock a prediction of learner ``number``, who joins the class that goes on, if there is one."""
    place = Place(f"{number:032x}", "main", 1)
    current = store.classes.current()
    if current is not None:
        store.classes.join(place.learner, current.id)
    store.lock(place, right_answers(**wrong), confidence=confidence, why=why)
