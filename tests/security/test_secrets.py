"""What is secret stays so: on the disk, in cookies, at the start."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tornado.web import create_signed_value

from app.classroom.gate import DAYS, JOINED, TEACHER, Gate
from app.classroom.keys import Keys, keys_in
from tests.classroom.running import ClassServing, Visitor
from tests.serving import PATIENCE, ROOT, free_port

HOUR = 3600


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_files_are_their_owners(school: ClassServing) -> None:
    data = school.folder / "data"
    assert mode(data) & 0o077 == 0
    found = [path for path in data.rglob("*") if path.is_file()]
    assert {"keys.json", "ticklab.sqlite3"} <= {path.name for path in found}
    assert [path for path in found if mode(path) & 0o077] == []


def stopped(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"TICKLAB_DATA": str(folder / "data"), "LANG": "C"}
    command = [sys.executable, "-m", "app", "--port", str(free_port()), *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )


def test_without_secrets_there_is_no_public_address(tmp_path: Path) -> None:
    shared = tmp_path / "keys.json"
    keys_in(tmp_path)
    for content, rights in ((shared.read_bytes(), 0o644), (b"{}", 0o600), (b"\xff", 0o600)):
        shared.write_bytes(content)
        shared.chmod(rights)
        done = stopped(tmp_path, "--address", "0.0.0.0", "--keys", str(shared))
        assert done.returncode == 2
        assert str(shared) in done.stderr
        assert len(done.stderr.splitlines()) == 1
    done = stopped(tmp_path, "--address", "0.0.0.0", "--keys", str(tmp_path / "absent.json"))
    assert done.returncode == 2
    assert "absent.json" in done.stderr
    assert not (tmp_path / "absent.json").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--prefix", "lab"], "--prefix must be a path such as /lab"),
        (["--prefix", "/lab/"], "--prefix must be"),
        (["--prefix", "/<script>"], "--prefix must be"),
        (["--frame-ancestors", "*"], "--frame-ancestors must be sites"),
        (["--frame-ancestors", "https://a.example; script-src *"], "--frame-ancestors must be sites"),
        (["--xheaders", "maybe"], "--xheaders must be true or false"),
        (["--most-sessions", "0"], "--most-sessions must be"),
    ],
)
def test_a_wrong_setting_is_one_sentence(tmp_path: Path, arguments: list[str], said: str) -> None:
    done = stopped(tmp_path, *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def signed(keys: Keys, name: str, *, age_days: float = 0, secret: str = "") -> str:
    """A cookie as the lab makes it, some days ago, or with another secret."""
    clock = time.time() - age_days * 24 * HOUR
    value = Gate(keys)._mark(name)
    return create_signed_value(secret or keys.cookie, name, value, clock=lambda: clock).decode()


@pytest.mark.parametrize("name", [JOINED, TEACHER])
def test_cookies_are_good_for_their_days_only(school: ClassServing, keys: Keys, name: str) -> None:
    path, closed = {JOINED: ("/app", 'id="code"'), TEACHER: ("/teach", "for the teacher")}[name]
    visitor = Visitor(school.url)
    visitor.get(f"/?code={keys.join}")
    learner = visitor.cookie("ticklab_learner").value
    asked = Visitor({JOINED: school.url, TEACHER: school.teacher}[name])

    def page(value: str) -> str:
        return asked.get(f"{path}?lang=en", Cookie=f"ticklab_learner={learner}; {name}={value}").text

    assert closed not in page(signed(keys, name, age_days=DAYS[name] - 1))
    other = TEACHER if name == JOINED else JOINED
    for value in (
        signed(keys, name, age_days=DAYS[name] + 1),
        signed(keys, name, secret="guessed"),
        signed(keys, other),
        signed(keys, name)[:-1],
        signed(keys, name) + "0",
        signed(keys, name).replace("2|1:0|", "1|1:0|"),
    ):
        assert closed in page(value), value


@pytest.mark.parametrize(
    "name", ["0" * 31, "g" * 32, "A" * 32, "../../../../../../../../../../../etc", "%00" * 10]
)
def test_a_learners_name_that_is_none_is_replaced(school: ClassServing, keys: Keys, name: str) -> None:
    visitor = Visitor(school.url)
    joined = f"{JOINED}={signed(keys, JOINED)}"
    page = visitor.get("/app", Cookie=f'{joined}; ticklab_learner="{name}"')
    assert page.status == 200
    assert name not in str(page.headers["Set-Cookie"])


def test_no_page_tells_a_learners_name(school: ClassServing, keys: Keys) -> None:
    """The name is a bearer's pass: it stands in its cookie, and in the signed token, nowhere else."""
    visitor = Visitor(school.url)
    visitor.get(f"/?code={keys.join}")
    name = str(visitor.cookie("ticklab_learner").value)
    teacher = Visitor(school.url)
    teacher.get(f"/teach?key={keys.teacher}")
    for page in (
        visitor.get("/app"),
        visitor.get("/"),
        teacher.get("/teach?show=1&hours=0"),
        teacher.get("/teach/predictions.csv?hours=0"),
        teacher.get("/teach/predictions.json?hours=0"),
    ):
        assert name not in page.text
    assert name not in school.log.read_text()
