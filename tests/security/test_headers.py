"""Every answer says what may run in it, who may frame it, and nothing about who sent it."""

from __future__ import annotations

import base64
import hashlib
import re

import pytest

from app.classroom.keys import Keys
from app.web.policy import with_nonce
from tests.classroom.running import ClassServing, Visitor
from tests.serving import Answer, Serving, serving

EVERYWHERE = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
PATHS = (
    "/app",
    "/app?ex=nope",
    "/read/en/main.html",
    "/healthz",
    "/static/js/bokeh.min.js",
    "/components/app.components.base/LabComponent/_css/tokens.css",
    "/lab/tables.css",
    "/favicon.ico",
    "/nothing",
    "/static/nothing.js",
)
INLINE = re.compile(r"<script(?P<attributes>[^>]*)>(?P<code>.*?)</script>", re.DOTALL)


def policy(headers: object) -> dict[str, list[str]]:
    """The directives of an answer's policy."""
    text = headers["Content-Security-Policy"]  # type: ignore[index]
    return {name: values for name, *values in (part.split() for part in text.split(";"))}


@pytest.mark.parametrize("path", PATHS)
def test_every_answer_of_the_lab_is_safe(lab: Serving, path: str) -> None:
    _safe(Answer(lab.url + path).headers)


@pytest.mark.parametrize("path", [*PATHS, "/", "/teach", "/class/board.js", "/?code=WRONG", "/readyz"])
def test_every_answer_of_a_class_is_safe(school: ClassServing, keys: Keys, path: str) -> None:
    visitor = Visitor(school.url)
    visitor.get(f"/?code={keys.join}")
    headers = visitor.get(path).headers
    _safe(headers)
    if path == "/app":
        assert "blob:" in policy(headers)["script-src"]


def _safe(headers: object) -> None:
    for name, value in EVERYWHERE.items():
        assert headers[name] == value  # type: ignore[index]
    assert headers["Server"] is None  # type: ignore[index]
    found = policy(headers)
    assert found["default-src"][0] in ("'none'", "'self'")
    scripts = found.get("script-src", found["default-src"])
    assert not {"'unsafe-inline'", "'unsafe-eval'", "*", "https:", "data:"} & set(scripts)
    assert found["base-uri"] == ["'none'"]
    assert set(found["frame-ancestors"]) <= {"'self'", "'none'"}


@pytest.mark.parametrize("path", ["/app", "/app?ex=nope", "/nothing"])
def test_every_script_in_a_page_is_allowed_by_name(lab: Serving, path: str) -> None:
    page = Answer(lab.url + path)
    allowed = policy(page.headers)["script-src"]
    scripts = [match for match in INLINE.finditer(page.text) if match["code"].strip()]
    assert scripts
    for script in scripts:
        nonce = re.search(r'nonce="([^"]+)"', script["attributes"])
        digest = base64.b64encode(hashlib.sha256(script["code"].encode()).digest()).decode()
        kind = re.search(r'type="([^"]+)"', script["attributes"])
        is_data = kind is not None and kind[1] in ("application/json", "esms-options")
        by_nonce = nonce is not None and f"'nonce-{nonce[1]}'" in allowed
        assert is_data or by_nonce or f"'sha256-{digest}'" in allowed, script[0][:100]


def test_a_nonce_is_used_once(lab: Serving) -> None:
    nonces = {str(policy(Answer(lab.page).headers)["script-src"]) for _ in range(3)}
    assert len(nonces) == 3


def test_data_that_looks_like_a_script_gets_no_nonce() -> None:
    made = with_nonce('<script type="application/json">"&lt;script>"</script><script>run()</script>', "n")
    assert made.count('nonce="n"') == 1
    assert '<script nonce="n">run()' in made


def test_a_course_site_may_frame_the_lab_when_it_is_named(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("framed")
    with serving(folder, TICKLAB_FRAME_ANCESTORS="https://course.example") as server:
        for path in ("/app", "/read/en/", "/nothing"):
            found = policy(Answer(server.url + path).headers)["frame-ancestors"]
            assert found == ["'self'", "https://course.example"]
        assert policy(Answer(f"{server.url}/healthz").headers)["frame-ancestors"] == ["'none'"]
