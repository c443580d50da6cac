"""``python -m app`` for tests, browsers that keep cookies, and locks of learners who never were."""

from __future__ import annotations

import os
import subprocess
import sys
import urllib.error
import urllib.request
from http.cookiejar import Cookie, CookieJar
from typing import Any

from app.settings import Settings
from app.store import Place, Store, open_store
from puzzles import fields, load, solve
from tests.serving import READY, ROOT, Serving


class ClassServing(Serving):
    """A running class; ``options`` are those of ``python -m app``."""

    def start(self, *, ready: bytes = READY) -> None:
        environment = os.environ | {"TICKLAB_DATA": str(self.folder / "data"), "OMP_NUM_THREADS": "1"}
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "app", "--port", str(self.port), *self.options],
                cwd=ROOT,
                env=environment | {"LANG": "C"} | self.environment,
                stdout=log,
                stderr=log,
            )
        self._wait(ready)

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
            with self._opener.open(request, timeout=30) as answer:
                return Reply(answer.status, answer.headers, answer.read(), answer.url)
        except urllib.error.HTTPError as error:
            with error:
                return Reply(error.code, error.headers, error.read(), error.url)

    def cookie(self, name: str) -> Cookie:
        return next(cookie for cookie in self.jar if cookie.name == name)


def right_answers(**wrong: Any) -> dict[str, Any]:
    """Right answers to all that the main exercise requires, but for ``wrong`` (``__`` for a dot)."""
    truth = solve(load("main"))
    found = {field.key: truth[field.key] for field in fields(load("main")) if field.required}
    return found | {key.replace("__", "."): value for key, value in wrong.items()}


def lock(store: Store, number: int, *, confidence: int | None = 2, why: str = "", **wrong: Any) -> None:
    """Lock a prediction of learner ``number``."""
    place = Place(f"{number:032x}", "main", 1)
    store.lock(place, right_answers(**wrong), confidence=confidence, why=why)
