"""What a running class answers: the way in, the teacher's page and nobody else on it, health."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tornado.web import create_signed_value

from app.classroom.gate import TEACHER, Patience
from app.classroom.keys import Keys
from app.web.policy import THEME_SCRIPT
from tests.classroom.running import ClassServing, Teacher, Visitor, lock

TEACHERS = (
    "/teach",
    "/teach/board",
    "/teach/predictions.csv",
    "/teach/predictions.json",
    "/teach/classes",
    "/teach/project",
    "/teach/project/part",
)
SAID = {"en": "This page is for the teacher", "zh": "此页仅供教师使用"}


@pytest.fixture
def visitor(school: ClassServing) -> Visitor:
    return Visitor(school.url)


@pytest.fixture
def learner(visitor: Visitor, keys: Keys) -> Visitor:
    assert visitor.get(f"/?code={keys.join}").status == 200
    return visitor


@pytest.fixture
def teacher(school: ClassServing) -> Teacher:
    return Teacher(school)


# ---- the way in ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("language", "said"), [("en", "Code of the class"), ("zh", "班级代码")])
def test_the_way_in_speaks_both_languages(visitor: Visitor, language: str, said: str) -> None:
    page = visitor.get(f"/?lang={language}")
    assert page.status == 200
    assert said in page.text
    assert f'href="read/{language}/"' in page.text
    assert said in visitor.get("/").text  # kept


def test_without_the_code_the_lab_leads_to_the_way_in(visitor: Visitor) -> None:
    for path in ("/app", "/app/", "/app?lang=zh", "/app?play=", "/app?play=aaaaaaaaaa"):
        page = visitor.get(path)
        assert page.url == f"{visitor.root}/"
        assert 'id="code"' in page.text


def test_the_calculators_are_behind_the_same_door(visitor: Visitor, keys: Keys) -> None:
    assert visitor.get("/lab/calculators").url == f"{visitor.root}/"
    assert visitor.get(f"/?code={keys.join}").status == 200
    assert 'id="kv-tokens"' in visitor.get("/lab/calculators").text


def test_with_the_code_the_lab_opens(learner: Visitor) -> None:
    assert 'name="nickname"' in learner.get("/").text
    page = learner.get("/app")
    assert page.url.endswith("/app")
    assert "data-step=" in page.text


def test_the_code_may_be_typed_in_small_letters(visitor: Visitor, keys: Keys) -> None:
    page = visitor.get(f"/?code=%20{keys.join.lower()}")
    assert 'name="nickname"' in page.text
    assert page.url == f"{visitor.root}/"  # the code is out of the address
    cookie = visitor.cookie("ticklab_joined")
    assert cookie.has_nonstandard_attr("HttpOnly")


@pytest.mark.parametrize("code", ["WRONG", "%3Cscript%3E", "%ff%00", "A" * 500, "码"])
def test_a_wrong_code_is_said(visitor: Visitor, code: str) -> None:
    from urllib.parse import quote

    page = visitor.get(f"/?code={quote(code, safe='%')}")
    assert page.status in (400, 403)
    assert "<script>" not in page.text
    assert visitor.get("/app").url == f"{visitor.root}/"


def test_a_forged_cookie_lets_nobody_in(visitor: Visitor) -> None:
    forged = create_signed_value("guessed", "ticklab_joined", "yes").decode()
    for value in (forged, "x", "", "2|1:0|"):
        assert 'id="code"' in visitor.get("/app", Cookie=f'ticklab_joined="{value}"').text


def test_too_many_wrong_codes_have_to_wait() -> None:
    now = [0.0]
    patience = Patience(3, 60, clock=lambda: now[0])
    for _ in range(3):
        assert not patience.is_over("a")
        patience.wrong("a")
    assert patience.is_over("a")
    assert not patience.is_over("b")
    now[0] = 61
    assert not patience.is_over("a")


@pytest.mark.parametrize("path", ["/app/autoload.js", "/app/metadata", "/admin", "/liveness", "/nothing"])
def test_there_is_no_other_way_in(visitor: Visitor, path: str) -> None:
    assert visitor.get(path).status == 404


@pytest.mark.parametrize("path", ["/class/../handlers.py", "/class/%2e%2e/keys.py", "/class/nothing.js"])
def test_files_of_the_class_stay_in_their_folder(visitor: Visitor, path: str) -> None:
    assert visitor.get(path).status in (403, 404)


def test_session_ids_cannot_be_made_up(learner: Visitor) -> None:
    assert learner.get("/app?bokeh-session-id=" + "a" * 44).status == 403


# ---- the teacher's page ----------------------------------------------------------------------------


@pytest.mark.parametrize("path", TEACHERS)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_without_a_cookie_the_teachers_pages_are_closed_in_words(
    school: ClassServing, path: str, language: str
) -> None:
    page = Visitor(school.teacher).get(path, **{"Accept-Language": language})
    assert page.status == 403
    assert SAID[language] in page.text


@pytest.mark.parametrize("path", TEACHERS)
def test_a_learner_never_gets_there(school: ClassServing, learner: Visitor, keys: Keys, path: str) -> None:
    joined = learner.cookie("ticklab_joined").value
    learner.root = school.teacher  # the same browser, with its cookies, at the teacher's door
    assert learner.get(path).status == 403
    for value in ("", "x", joined, create_signed_value("guessed", TEACHER, "teacher").decode()):
        assert learner.get(path, Cookie=f"{TEACHER}={value}").status == 403
    for key in ("x", keys.join, keys.teacher[:-1], keys.teacher + "x"):
        assert learner.get(f"{path}?key={key}").status == 403


@pytest.mark.parametrize("path", TEACHERS)
def test_the_learners_server_has_no_teachers_page(school: ClassServing, keys: Keys, path: str) -> None:
    teacher = Teacher(school)
    teacher.root = school.url  # even the teacher's own cookie finds nothing there
    assert teacher.get(path).status == 404
    assert Visitor(school.url).get(f"{path}?key={keys.teacher}").status == 404


def test_the_secret_link_gives_a_cookie_and_leaves_the_address(teacher: Teacher, keys: Keys) -> None:
    page = teacher.get(f"/teach?key={keys.teacher}")
    assert page.url == f"{teacher.root}/teach"
    cookie = teacher.cookie(TEACHER)
    assert cookie.path == "/teach"
    assert cookie.has_nonstandard_attr("HttpOnly")
    assert keys.teacher not in page.text
    assert keys.teacher not in str(cookie.value)


def test_the_key_is_not_in_the_log_of_requests(school: ClassServing, teacher: Teacher, keys: Keys) -> None:
    teacher.get(f"/teach/board?key={keys.teacher}&missing=%ff")
    Visitor(school.teacher).get(f"/nothing?key={keys.teacher}")
    Visitor(school.url).get(f"/nothing?key={keys.teacher}")
    lines = [line for line in school.log.read_text().splitlines() if keys.teacher in line]
    assert all("/teach?key=" in line and line.startswith("  http") for line in lines[:1])
    assert [line for line in lines if "GET /teach" in line] == []


def test_every_text_of_a_learner_is_escaped(school: ClassServing, teacher: Teacher) -> None:
    store = school.store()
    lock(store, 51, why="<script>alert(1)</script>&\"'", confidence=4, static__R02__ttft=77.7)
    store.close()
    hidden = teacher.get("/teach/board?exercise=main").text
    assert "alert(1)" not in hidden
    assert "77.7" not in hidden
    for path in ("/teach", "/teach/board"):
        shown = teacher.get(f"{path}?exercise=main&show=1").text
        assert "<script>alert" not in shown
        assert "&lt;script&gt;alert(1)&lt;/script&gt;&amp;" in shown
        assert "77.7" in shown


@pytest.mark.parametrize("query", ["?exercise=<b>&class=-1&show=2", "?class=%ff", "?lang=xx&exercise=../x"])
def test_odd_questions_get_the_usual_answer(teacher: Teacher, query: str) -> None:
    page = teacher.get("/teach" + query.replace("<", "%3C").replace(">", "%3E"))
    assert page.status in (200, 400)
    assert "<b>" not in page.text


def test_exports_come_while_the_class_is_live(school: ClassServing, teacher: Teacher) -> None:
    store = school.store()
    lock(store, 52, why="=1+1")
    store.close()
    sheet = teacher.get("/teach/predictions.csv")
    assert sheet.headers["Content-Type"].startswith("text/csv")
    assert "attachment" in sheet.headers["Content-Disposition"]
    assert "'=1+1" in sheet.body.decode("utf-8-sig")
    found: list[dict[str, Any]] = json.loads(teacher.get("/teach/predictions.json").body)
    assert "=1+1" in [one["why"] for one in found]
    assert f"{52:032x}" not in sheet.text + json.dumps(found)


def test_pages_of_the_class_load_nothing_from_elsewhere_and_run_nothing_inline(
    visitor: Visitor, teacher: Teacher
) -> None:
    pages = [visitor.get("/"), *map(teacher.get, ("/teach?show=1", "/teach/classes", "/teach/nothing"))]
    for page in pages:
        assert "//" not in page.text.replace("</", "")
        assert "<script>" not in page.text.replace(f"<script>{THEME_SCRIPT}</script>", "")
        assert "style=" not in page.text
    assert "default-src 'none'" in teacher.get("/teach").headers["Content-Security-Policy"]


# ---- health --------------------------------------------------------------------------------------


def test_health_tells_the_lag_of_the_loop(visitor: Visitor) -> None:
    found = json.loads(visitor.get("/healthz").body)
    assert found["database"] is True
    assert found["worker"] == "ready"
    assert 0 <= found["loop_lag_ms"] < 60_000


def test_ready_builds_a_page(visitor: Visitor) -> None:
    for _ in range(2):
        answer = visitor.get("/readyz")
        assert (answer.status, json.loads(answer.body)) == (200, {"page": True})


def test_reading_needs_no_code(visitor: Visitor) -> None:
    assert visitor.get("/read/en/").status == 200
