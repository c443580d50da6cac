"""Addresses that lead nowhere: out of a folder, into the server, under a wrong name, with a wrong method."""

from __future__ import annotations

import socket
from contextlib import suppress
from urllib.parse import quote

import pytest

from app.classroom.keys import Keys
from tests.classroom.running import ClassServing, Visitor
from tests.security.hostile import HOSTILE, intruders
from tests.serving import PATIENCE, Serving

UP = (
    "../",
    "..%2f",
    "%2e%2e/",
    "%2e%2e%2f",
    "..%5c",
    "%252e%252e%252f",
    "....//",
    "..%c0%af",
    "%00/../",
    ".%00./",
)
FOLDERS = (
    "/read/",
    "/class/",
    "/static/",
    "/static/extensions/panel/",
    "/components/app.components.base/LabComponent/_css/",
)
TARGETS = ("pyproject.toml", "app/settings.py", "etc/passwd", "keys.json")
SECRET = (b"[project]", b"root:", b"def read_settings", b'"teacher"')
ENDPOINTS = (
    "/admin",
    "/rest",
    "/rest/app",
    "/liveness",
    "/app/metadata",
    "/app/autoload.js?bokeh-autoload-element=x",
    "/metrics",
    "/.git/config",
    "/app/app",
    "//evil.example/",
)


def raw(server: Serving, request: bytes) -> bytes:
    """What the server answers to these very bytes."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as line:
        found = b""
        with suppress(ConnectionError):  # it may hang up before it has read all
            line.sendall(request)
            while part := line.recv(65536):
                found += part
    return found


def asked(server: Serving, path: str, method: str = "GET", host: str = "", body: bytes = b"") -> bytes:
    host = host or f"127.0.0.1:{server.port}"
    head = f"{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n"
    head += f"Content-Length: {len(body)}\r\n" if body else ""
    return raw(server, head.encode() + b"\r\n" + body)


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_folder_is_left(school: ClassServing, folder: str) -> None:
    for up in UP:
        for depth in (1, 2, 3, 6, 12):
            for target in TARGETS:
                answer = asked(school, folder + up * depth + target)
                assert status(answer) in (400, 403, 404), (up, depth, target)
                assert not any(secret in answer for secret in SECRET)


@pytest.mark.parametrize(
    "path", ["/read//etc/passwd", "/static//etc/passwd", "/class/%2fetc%2fpasswd", "/read/C:%5cx"]
)
def test_absolute_paths_lead_nowhere(school: ClassServing, path: str) -> None:
    answer = asked(school, path)
    assert status(answer) in (403, 404)
    assert b"root:" not in answer


@pytest.mark.parametrize("path", ENDPOINTS)
def test_nothing_else_is_open(lab: Serving, school: ClassServing, path: str) -> None:
    for server in (lab, school):
        assert status(asked(server, path)) == 404, path


@pytest.mark.parametrize(
    "method", ["TRACE", "PUT", "DELETE", "PATCH", "OPTIONS", "CONNECT", "PROPFIND", "X" * 2000]
)
def test_other_methods_do_nothing(lab: Serving, method: str) -> None:
    for path in ("/app", "/read/en/", "/healthz", "/static/js/bokeh.min.js"):
        answer = asked(lab, path, method)
        assert status(answer) in (400, 405), (method, path)


@pytest.mark.parametrize("path", ["/app", "/read/", "/", "/teach/reading", "/nothing"])
def test_large_bodies_are_not_even_read(school: ClassServing, path: str) -> None:
    told = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{school.port}\r\nContent-Length: 90000000\r\n\r\n"
    answer = raw(school, told.encode() + b"x" * 1000)
    assert status(answer) in (400, 413)
    chunks = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{school.port}\r\nTransfer-Encoding: chunked\r\n\r\n"
    answer = raw(school, chunks.encode() + b"10000\r\n" + b"x" * 0x10000 + b"\r\n1\r\nx\r\n0\r\n\r\n")
    assert answer == b"" or status(answer) in (400, 413)


def test_a_form_that_is_too_large_is_told_so(school: ClassServing) -> None:
    answer = asked(school, "/", "POST", body=b"x" * 65_537)
    assert answer == b"" or status(answer) in (400, 413)
    assert status(asked(school, "/", "POST", body=b"nickname=x")) == 403


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1:1", "[::1]:5006", "a b", "x" * 500, ""]
)
def test_a_class_answers_under_its_own_names_only(school: ClassServing, host: str) -> None:
    for path in ("/", "/app", "/teach", "/read/en/", "/static/js/bokeh.min.js"):
        answer = asked(school, path, host=host or "%")
        assert status(answer) in (400, 421), path
        assert b"Set-Cookie: ticklab_joined" not in answer
    assert status(asked(school, "/healthz", host="10.0.0.7")) == 200


def test_a_class_answers_under_all_its_names(school: ClassServing) -> None:
    for name in ("127.0.0.1", "localhost", "LOCALHOST"):
        assert status(asked(school, "/", host=f"{name}:{school.port}")) == 200


@pytest.mark.parametrize("text", [*HOSTILE[:-1], "x" * 4000])
@pytest.mark.parametrize(
    "where", ["/app?ex={}", "/app?lang={}", "/?code={}", "/{}", "/read/{}", "/app?ex=main&{}=1"]
)
def test_hostile_addresses_are_answered_in_escaped_words(
    lab: Serving, school: ClassServing, keys: Keys, where: str, text: str
) -> None:
    path = where.format(quote(text))
    visitor = Visitor(school.url)
    visitor.get(f"/?code={keys.join}")
    for page in (Visitor(lab.url).get(path), visitor.get(path)):
        assert page.status in (200, 400, 403, 404), page.status
        assert intruders(page.body.decode(errors="replace")) == []
        assert b"Traceback" not in page.body


def test_a_megabyte_in_the_address_is_refused(lab: Serving) -> None:
    answer = asked(lab, "/app?ex=" + "x" * 1_000_000)
    assert answer == b"" or status(answer) >= 400


@pytest.mark.parametrize("slash", ["/app/", "/app/?ex=main&lang=zh"])
def test_a_slash_too_many_leads_to_the_page(lab: Serving, slash: str) -> None:
    page = Visitor(lab.url).get(slash)
    assert page.url == lab.url + slash.replace("/app/", "/app")
    assert page.status == 200


@pytest.mark.parametrize("session", ["a" * 44, "../x", "<script>", "x" * 5000])
def test_session_ids_cannot_be_made_up(school: ClassServing, keys: Keys, session: str) -> None:
    visitor = Visitor(school.url)
    visitor.get(f"/?code={keys.join}")
    page = visitor.get(f"/app?bokeh-session-id={quote(session)}")
    assert page.status == 403
    assert intruders(page.text) == []
    assert "To the lab" in page.text
