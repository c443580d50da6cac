"""The teacher's server: what its forms do, who may send them, classes, exports, the projector."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.request import Request

import pytest

from app.classroom.board import title_of
from app.classroom.keys import Keys
from app.classroom.words import class_words
from app.state.directions import PHASES, Direction, direction_of
from app.store import Place, SchoolClass, Store
from app.teacher.directing import decision, last_tick
from app.teacher.teaching import shown_steps
from tests.classroom.running import ClassServing, Teacher, Visitor, lock, right_answers

NASTY = "<script>alert(1)</script>&\"'"


@pytest.fixture
def store(school: ClassServing) -> Iterator[Store]:
    opened = school.store()
    yield opened
    opened.close()


@pytest.fixture
def teacher(school: ClassServing) -> Teacher:
    """In a class of their own."""
    found = Teacher(school)
    assert found.post("/teach/classes/start", name="5b").status == 200
    return found


def current(store: Store) -> SchoolClass:
    found = store.classes.current()
    assert found is not None
    return found


def joined(school: ClassServing, keys: Keys, nickname: str = "") -> Visitor:
    """A learner's browser that has come by the code, and its nickname."""
    visitor = Visitor(school.url)
    assert visitor.get(f"/?code={keys.join}").status == 200
    form = f"nickname={nickname}".encode()
    assert visitor.send(Request(school.url + "/", data=form, headers={"Origin": school.url})).status == 200
    return visitor


# ---- directing ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("phase", PHASES)
def test_a_phase_is_one_press_and_works_without_script(teacher: Teacher, store: Store, phase: str) -> None:
    page = teacher.get("/teach?exercise=main").text
    assert f'name="phase" value="{phase}"' in page
    assert "<form" in page
    answer = teacher.post("/teach/direct?exercise=main&lang=en", exercise="main", phase=phase, sure=1)
    assert answer.url.endswith("/teach?exercise=main&lang=en")
    decided = store.classes.decided(current(store).id)
    assert direction_of(decided.of("main")).phase == phase
    assert f'value="{phase}" aria-current="step"' in answer.text


def test_what_nobody_can_unsee_is_asked_about_once_more(teacher: Teacher, store: Store) -> None:
    """A slip of the finger from a vote to the verdict: nothing is open before it is said twice."""

    def press(phase: str, **more: Any) -> str:
        return teacher.post("/teach/direct?exercise=main&lang=en", exercise="main", phase=phase, **more).text

    def phase() -> str:
        return direction_of(store.classes.decided(current(store).id).of("main")).phase

    press("vote1", sure=1)
    for wanted, name in (("run", "Run"), ("reveal", "Reveal"), ("free", "Free")):
        page = press(wanted)
        assert phase() == "vote1"
        assert f"Yes: “{name}”" in page
        assert "Stay at “Vote 1”" in page
        assert "cannot be taken back" in page
    assert "cannot be taken back" not in press("discuss")
    assert "cannot be taken back" not in press("vote2")
    press("run")
    assert phase() == "run"
    press("reveal")
    assert phase() == "reveal"
    page = teacher.get("/teach?exercise=main&lang=en&ask=reveal").text
    assert "cannot be taken back" not in page  # an old address asks nothing
    press("vote1")
    press("reveal", sure=1)
    assert phase() == "reveal"


def test_the_page_says_what_a_press_will_do_and_what_learners_read(teacher: Teacher) -> None:
    teacher.direct("main", phase="vote1")
    page = teacher.get("/teach?exercise=main&lang=en").text
    words = class_words("en")
    assert all(words(f"phase.{phase}.means") in page for phase in PHASES)
    assert "Their pages say: “Vote 1 is open: lock your prediction.”" in page
    other = teacher.get("/teach?exercise=itl&lang=en").text
    assert f"The class is at “{title_of('main', 'en')}”." in other
    assert "Their pages say" not in other
    assert "The class is at" not in page
    assert "--address 0.0.0.0" in page  # nobody else can reach this one


def test_the_counts_beside_the_exercises_stay_fresh(teacher: Teacher, store: Store) -> None:
    teacher.direct("main", phase="vote1")
    title = title_of("main", "en")
    before = teacher.get("/teach/exercises?exercise=main&lang=en").text
    (count,) = re.findall(rf"{title} · (\d+)", before)
    lock(store, 88)
    after = teacher.get("/teach/exercises?exercise=main&lang=en").text
    assert f"{title} · {int(count) + 1}" in after
    assert 'data-refresh="teach/exercises"' in teacher.get("/teach?exercise=main").text


def test_who_has_locked_is_not_said_to_run_before_the_class_runs() -> None:
    steps = {"read": 1, "predict": 2, "run": 3, "verdict": 1}
    assert shown_steps(steps, Direction("vote1")) == {"read": 1, "predict": 6}
    assert shown_steps(steps, Direction("run")) == {"read": 1, "predict": 2, "run": 3, "observe": 1}
    assert shown_steps(steps, Direction("free")) == steps


def test_a_new_class_is_begun_once_however_often_it_is_asked_for(teacher: Teacher, store: Store) -> None:
    def begun() -> int:
        return len(store.classes.all())

    before = begun()
    for _ in range(3):
        teacher.post("/teach/classes/start", name="twice ")
    assert begun() == before + 1
    teacher.direct(phase="vote1")
    teacher.post("/teach/classes/start", name="twice")  # now it is one that was used
    assert begun() == before + 2
    lock(store, 93)
    teacher.post("/teach/classes/start", name="twice")
    assert begun() == before + 3
    teacher.post("/teach/classes/start", name="another")
    assert begun() == before + 4


def test_lock_step_goes_on_back_and_off(teacher: Teacher, store: Store) -> None:
    def tick() -> object:
        return store.classes.decided(current(store).id).of("main").get("tick")

    teacher.direct(phase="run", tick=0)
    assert tick() == 0
    page = teacher.get("/teach?exercise=main").text
    assert 'name="tick" value="1"' in page
    assert 'name="tick" value="-1"' in page
    teacher.direct(tick=1)
    assert tick() == 1
    teacher.direct(tick=999_999)
    assert tick() == last_tick("main")
    teacher.direct(tick="")
    assert tick() is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("phase", "party"),
        ("phase", "ended"),
        ("tick", "-1"),
        ("tick", "1.5"),
        ("tick", "٣"),
        ("tick", "9" * 9),
        ("show_votes", "yes"),
        ("reading", "1"),
        ("phase", ""),
    ],
)
def test_what_cannot_be_decided_is_refused(teacher: Teacher, store: Store, name: str, value: str) -> None:
    with pytest.raises(ValueError, match="cannot be"):
        decision(name, value, "main")
    before = store.classes.mark()
    teacher.post("/teach/direct", exercise="main", sure=1, **{name: value})
    assert store.classes.mark() == before
    assert teacher.post("/teach/direct", exercise="../x", phase="run").status == 400


@pytest.mark.parametrize(
    "path", ["/teach/direct", "/teach/reading", "/teach/classes/start", "/teach/classes/end"]
)
def test_a_form_comes_from_the_teachers_own_page(
    school: ClassServing, teacher: Teacher, store: Store, path: str
) -> None:
    before = store.classes.mark(), len(store.classes.all())
    number = current(store).id
    values = {"exercise": "main", "phase": "reveal", "open": 1, "class": number}
    for origin in ("http://evil.example", "null", school.url):
        assert teacher.post(path, origin=origin, **values).status == 403
    for token in ("", "0" * 64, Teacher(school).token()):  # that of another browser, too
        assert teacher.post(path, token=token, **values).status == 403
    stranger = Visitor(school.teacher)
    form = Request(school.teacher + path, data=b"phase=reveal", headers={"Origin": school.teacher})
    assert stranger.send(form).status == 403
    assert (store.classes.mark(), len(store.classes.all())) == before


def test_a_learner_sends_no_decision(
    school: ClassServing, keys: Keys, teacher: Teacher, store: Store
) -> None:
    learner = joined(school, keys)
    before = store.classes.mark()
    for root in (school.url, school.teacher):
        form = Request(f"{root}/teach/direct", data=b"exercise=main&phase=reveal", headers={"Origin": root})
        assert learner.send(form).status in (403, 404)
    assert store.classes.mark() == before


# ---- who is there --------------------------------------------------------------------------------------


def test_nicknames_are_shown_escaped_and_only_to_the_teacher(
    school: ClassServing, keys: Keys, teacher: Teacher, store: Store
) -> None:
    named, nameless = joined(school, keys, "%3Cscript%3Ealert(1)%3C/script%3E"), joined(school, keys)
    learner = named.cookie("ticklab_learner").value
    lock_of(store, str(learner))
    board = teacher.get("/teach/board?exercise=main&lang=en").text
    assert "<script>" not in board
    assert "Locked: <bdi>&lt;script&gt;alert(1)&lt;/script&gt;</bdi>" in board
    assert "Not yet: 1 without a nickname" in board
    for page in (nameless.get("/"), nameless.get("/app"), teacher.get("/teach/project")):
        assert "alert(1)" not in page.text
    assert 'value="&lt;script&gt;' in named.get("/").text


def lock_of(store: Store, learner: str) -> None:
    """A lock of a learner who has joined."""
    store.lock(Place(learner, "main", 1), right_answers(), confidence=3, why="")


def test_exports_have_nicknames_only_when_asked(
    school: ClassServing, keys: Keys, teacher: Teacher, store: Store
) -> None:
    learner = joined(school, keys, "%3Dcmd()").cookie("ticklab_learner").value
    lock_of(store, str(learner))
    plain = teacher.get("/teach/predictions.csv").body.decode("utf-8-sig")
    assert "cmd" not in plain
    assert "nickname" not in plain
    named = teacher.get("/teach/predictions.csv?names=1").body.decode("utf-8-sig")
    assert {row["nickname"] for row in csv.DictReader(io.StringIO(named))} == {"'=cmd()"}
    assert "cmd" not in teacher.get("/teach/predictions.json").text
    found = json.loads(teacher.get("/teach/predictions.json?names=1").body)
    assert [one["nickname"] for one in found] == ["=cmd()"]
    assert str(learner) not in named


# ---- classes -------------------------------------------------------------------------------------------


def test_a_new_class_makes_new_learners_of_the_old_browsers(
    school: ClassServing, keys: Keys, teacher: Teacher, store: Store
) -> None:
    browser = joined(school, keys, "Ada")
    before = browser.cookie("ticklab_learner").value
    lock_of(store, str(before))
    teacher.post("/teach/classes/start", name="6c")
    assert browser.get("/app").url == f"{school.url}/"  # has to join again
    assert 'id="code"' in browser.get("/").text
    browser.get(f"/?code={keys.join}")
    after = browser.cookie("ticklab_learner").value
    assert after != before
    assert "data-step=" in browser.get("/app").text
    assert [one.learner for one in store.classes.members(current(store).id)] == [after]
    assert "<strong>0</strong>" in teacher.get("/teach/board?exercise=main").text
    past = store.classes.all()[1][0].id
    read_only = teacher.get(f"/teach?class={past}&exercise=main").text
    assert "<strong>1</strong>" in read_only
    assert 'name="phase"' not in read_only
    export = teacher.get(f"/teach/predictions.csv?class={past}").body
    assert export.count(b"\n") > 2


def test_nobody_enters_a_class_that_has_ended(
    school: ClassServing, keys: Keys, teacher: Teacher, store: Store
) -> None:
    browser, number = joined(school, keys), current(store).id
    teacher.post("/teach/classes/end", **{"class": number})
    for visitor in (browser, Visitor(school.url)):
        page = visitor.get(f"/?code={keys.join}&lang=zh")
        assert "本课已结束" in page.text
        assert visitor.get("/app").url == f"{school.url}/"
    assert teacher.post("/teach/direct", exercise="main", phase="run").status == 409
    teacher.post("/teach/classes/resume", **{"class": number})
    assert "data-step=" in browser.get("/app").text


def test_deleting_takes_two_steps_and_takes_everything(
    school: ClassServing, keys: Keys, teacher: Teacher, store: Store
) -> None:
    learner = str(joined(school, keys, "Ada").cookie("ticklab_learner").value)
    lock_of(store, learner)
    number = current(store).id
    assert teacher.post("/teach/classes/delete", **{"class": number}).status == 409  # it goes on
    teacher.post("/teach/classes/start")
    asked = teacher.get(f"/teach/classes?delete={number}&lang=en").text
    assert "cannot be undone" in asked
    assert store.classes.member(learner) is not None  # asking deletes nothing
    teacher.post("/teach/classes/delete", **{"class": number})
    assert store.classes.member(learner) is None
    assert store.predictions(class_id=number) == []
    assert number not in [one.id for one, _ in store.classes.all()]


def test_a_class_is_renamed_and_its_name_is_text(teacher: Teacher, store: Store) -> None:
    teacher.post("/teach/classes/rename", **{"class": current(store).id, "name": NASTY})
    for path in ("/teach", "/teach/classes"):
        page = teacher.get(path).text
        assert "<script>alert" not in page
        assert "&lt;script&gt;alert(1)" in page
    assert teacher.post("/teach/classes/rename", **{"class": "x", "name": "y"}).status == 400


# ---- the projector -----------------------------------------------------------------------------------------


def test_the_projector_shows_no_secret_and_no_vote_before_it_is_told_to(
    school: ClassServing, keys: Keys, teacher: Teacher, store: Store
) -> None:
    lock(store, 71, why=NASTY, static__R02__ttft=77.7)
    teacher.direct(phase="vote1")
    page = teacher.get("/teach/project?lang=en").text
    for shown in (keys.join, f"{school.url}/", "Vote 1", "have locked"):
        assert shown in page
    for hidden in (keys.teacher, keys.cookie, "77.7", "alert(1)", 'name="token"', "<form", "predictions"):
        assert hidden not in page
    teacher.direct(show_votes=1)
    part = teacher.get("/teach/project/part?lang=en").text
    assert "77.70 s" in part
    assert "✓" not in part  # which answer is right is told with the verdict
    teacher.direct(phase="reveal")
    assert "✓" in teacher.get("/teach/project/part").text
    teacher.direct(phase="run", tick=7, show_votes=0)
    part = teacher.get("/teach/project/part?lang=zh").text
    assert "tick 7" in part
    assert "77.7" not in part


def test_one_question_can_be_put_on_the_wall_alone(teacher: Teacher, store: Store) -> None:
    lock(store, 72, static__R02__ttft=77.7)
    teacher.direct(phase="vote1", show_votes=1)
    page = teacher.get("/teach/project?lang=en").text
    assert 'href="?lang=en&amp;question=static.R02.ttft"' in page
    one = teacher.get("/teach/project/part?lang=en&question=static.R02.ttft").text
    assert one.count("<h2>") == 1
    assert "77.70 s" in one
    assert 'href="?lang=en"' in one  # the way back to all of them
    assert teacher.get("/teach/project/part?question=nothing").text.count("<h2>") > 1
    teacher.direct(show_votes=0)


def test_the_projector_follows_the_exercise_that_is_led(teacher: Teacher) -> None:
    assert "<h1>Tick Lab</h1>" in teacher.get("/teach/project/part").text
    teacher.direct("itl", phase="vote1")
    one = teacher.get("/teach/project/part").text
    teacher.direct("main", phase="closed")
    other = teacher.get("/teach/project/part").text
    assert one != other


def test_an_empty_lab_leads_the_teacher_to_the_list_of_classes(teacher: Teacher, store: Store) -> None:
    for one, _ in store.classes.all():
        store.classes.end(one.id)
        store.classes.delete(one.id)
    assert teacher.get("/teach").url.endswith("/teach/classes")
    for path in ("/teach/board", "/teach/project", "/teach/predictions.csv"):
        assert teacher.get(path).status == 404
    teacher.post("/teach/classes/start")
    assert teacher.get("/teach").status == 200


def test_nothing_else_is_there_and_it_is_said_in_words(teacher: Teacher) -> None:
    page = teacher.get("/teach/nothing?lang=en")
    assert page.status == 404
    assert "nothing at this address" in page.text.lower()
    for path in ("/class/../keys.py", "/class/%2e%2e/keys.py", "/components/app.components.base/x"):
        assert teacher.get(path).status in (403, 404)
    assert teacher.get("/favicon.ico").status == 204
