"""The transfer task without a script: forms, the lock, the run, the verdict, another try."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urljoin

import pytest

from app.settings import Settings
from app.store import Place, open_store
from app.web.policy import THEME_SCRIPT, page_policy
from puzzles.design import load_task, plan_of, read, task, trials
from puzzles.design.trials import YOURS
from puzzles.words import number
from tests.designing.guest import PLAN, Guest
from tests.serving import Answer, Serving


def outcome(seed: int = 0) -> list[str]:
    """What only a run can say: figures of the four designs, as the page prints them."""
    texts, _ = read(load_task().worked | load_task().limits, required=False)
    ran = trials(task(seed), plan_of(texts))
    found = [number(one.summary.window) for one in ran.values()]
    return [*found, *(f"{number(round(one.goodput, 2))} req/s" for one in ran.values())]


def learner(guest: Guest) -> str:
    return str(guest.cookie("ticklab_learner").value)


def test_the_page_states_the_task_and_no_outcome(guest: Guest) -> None:
    assert guest.page.status == 200
    assert guest.step == "Read"
    for text in ("TTFT ≤ 1.5 s", "600–1000", "3,072 tokens", "one by one", "L = λW"):
        assert text in guest.text
    assert not any(figure in guest.text for figure in outcome())
    assert 'value="run"' not in guest.page.text


@pytest.mark.parametrize("language", ["en", "zh"])
def test_it_speaks_the_readers_language(desk: Serving, language: str) -> None:
    page = Answer(f"{desk.url}/lab/design?lang={language}")
    assert f'<html lang="{"zh-CN" if language == "zh" else "en"}"' in page.text
    assert ("设计一个摘要服务" in page.text) == (language == "zh")


def test_no_script_stands_in_the_page_but_that_of_the_theme(guest: Guest) -> None:
    for _ in range(2):
        page = guest.page.text
        assert re.findall(r"<script(?![^>]*\bsrc=)[^>]*>(.*?)</script>", page, re.DOTALL) == [THEME_SCRIPT]
        assert re.findall(r"\son\w+=|style=", page) == []
        assert guest.page.headers["Content-Security-Policy"] == page_policy()
        guest.all_the_way()


def test_everything_the_page_asks_for_is_there(guest: Guest, desk: Serving) -> None:
    addresses = re.findall(r'<(?:link|script)[^>]* (?:href|src)="([^"]+)"', guest.page.text)
    assert len(addresses) >= 6
    for address in addresses:
        assert Answer(urljoin(f"{desk.url}/lab/design", address)).status == 200, address
    for link in re.findall(r'<a [^>]*href="([^"#]+)"', guest.page.text):
        assert Answer(urljoin(f"{desk.url}/lab/design", link)).status == 200, link


def test_the_check_tells_and_locks_nothing(guest: Guest) -> None:
    guest.press("check", **PLAN | {"expect_inside": "9", "policy": "immediate"})
    assert guest.step == "Predict"
    assert "λ × W = 4 × 1.5 = 6, but you wrote L = 9" in guest.text
    assert "the queue must grow" in guest.text
    assert "L has to be λ × W = 6 before the plan is locked" in guest.text
    guest.press("run")
    assert guest.step == "Predict"
    assert not any(figure in guest.text for figure in outcome())


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"expect_inside": "9"}, "L has to be λ × W = 6"),
        ({"slo_ttft": "soon"}, "'soon' is not a number above 0"),
        ({"max_active": "many"}, "'many' is not a whole number from 1 to 100"),
        ({"expect_goodput": ""}, "this is not filled in yet"),
        ({"variables": ["step_time"]}, "at least three have to be named"),
        ({"variables": ["<b>x</b>", "step_time", "inside"]}, "'<b>x</b>' is not one of"),
        ({"policy": "<script>alert(1)</script>"}, "is not one of immediate"),
    ],
)
def test_a_plan_that_is_not_whole_is_not_locked(guest: Guest, changes: dict[str, object], said: str) -> None:
    guest.press("lock", **PLAN | changes)
    assert guest.step == "Predict"
    assert said in guest.page.text.replace("&#39;", "'").replace("&lt;", "<").replace("&gt;", ">")
    assert "<script>alert" not in guest.page.text
    assert "<b>x" not in guest.page.text
    guest.open()
    assert guest.step == "Predict"


def test_what_is_typed_is_there_after_a_reload(guest: Guest) -> None:
    guest.press("check", **PLAN)
    guest.open()
    assert 'name="max_active" value="10"' in guest.page.text
    assert '<option value="shortest" selected>' in guest.page.text
    assert 'value="burstiness" checked' in guest.page.text
    assert 'value="short ones first, &amp; nobody &lt;waits&gt;"' in guest.page.text
    other = Guest(guest.root)
    assert 'name="max_active" value="none"' in other.page.text


def test_all_the_way(guest: Guest, desk: Serving) -> None:
    guest.press("lock", **PLAN)
    assert guest.step == "Run"
    assert not any(figure in guest.text for figure in outcome())
    guest.press("observe", observed="7")
    assert guest.step == "Run"
    guest.press("run")
    assert guest.step == "Observe"
    assert not any(figure in guest.text for figure in outcome())
    guest.press("observe", observed="seven")
    assert (guest.step, "Type a whole number" in guest.text) == ("Observe", True)
    most = trials(task(), plan_of(read(load_task().worked | load_task().limits, required=False)[0]))
    guest.press("observe", observed=str(most[YOURS].summary.peak_backlog))
    assert guest.step == "Verdict"
    assert all(figure in guest.text for figure in outcome())
    for text in ("it is.", "Best of 4", "long ones pay", "A full KV pool held", "Passed: at least three"):
        assert text in guest.text, text
    guest.open("?lang=zh")
    assert "长请求在买单" in guest.text
    guest.open("?lang=en")
    assert guest.step == "Verdict"


def test_the_lock_is_final_and_written_once(guest: Guest, desk: Serving) -> None:
    guest.press("lock", **PLAN)
    guest.press("lock", **PLAN | {"max_active": "3"})
    guest.press("check", **PLAN | {"max_active": "4"})
    store = open_store(Settings(data=desk.folder / "data"))
    mine = [one for one in store.predictions(exercise="design") if one.place.learner == learner(guest)]
    store.close()
    assert [one.answers["max_active"] for one in mine] == ["10"]
    assert mine[0].confidence == 3
    assert mine[0].why == PLAN["why"]
    assert mine[0].answers["variables"] == "step_time,burstiness,output_lengths"


def test_a_double_click_locks_once(guest: Guest, desk: Serving) -> None:
    twins = [Guest(desk.url) for _ in range(4)]
    for twin in twins:
        twin.jar.clear()
        for cookie in guest.jar:
            twin.jar.set_cookie(cookie)
    with ThreadPoolExecutor(4) as crowd:
        list(crowd.map(lambda twin: twin.press("lock", **PLAN), twins))
    store = open_store(Settings(data=desk.folder / "data"))
    mine = [one for one in store.predictions(exercise="design") if one.place.learner == learner(guest)]
    store.close()
    assert len(mine) == 1
    assert {twin.open().status for twin in twins} == {200}
    assert {twin.step for twin in twins} == {"Run"}


def test_another_try_has_other_traffic_and_keeps_the_design(guest: Guest, desk: Serving) -> None:
    guest.press("again")
    assert guest.attempt == "1"
    guest.all_the_way()
    guest.press("again")
    assert (guest.step, guest.attempt) == ("Predict", "2")
    assert 'name="max_active" value="10"' in guest.page.text
    assert 'name="expect_time" value=""' in guest.page.text
    store = open_store(Settings(data=desk.folder / "data"))
    attempt = store.latest(learner(guest), "design")
    store.close()
    assert attempt is not None
    assert attempt.seed
    assert str(task(attempt.seed).requests[9].arrival) in guest.text
    guest.all_the_way(max_active="2")
    assert guest.step == "Verdict"
    assert "Try 2" in guest.text
    assert "Your max_active held" in guest.text


def test_a_form_of_an_earlier_try_does_nothing(guest: Guest) -> None:
    guest.all_the_way()
    guest.press("again")
    guest.press("lock", **PLAN, attempt="1")
    assert (guest.step, guest.attempt) == ("Predict", "2")


@pytest.mark.parametrize("origin", ["http://evil.example", "null", None])
def test_another_site_cannot_send_its_forms(guest: Guest, origin: str | None) -> None:
    assert guest.press("lock", origin=origin, **PLAN).status == 403
    assert "did not come from a page of this lab" in guest.text
    guest.open()
    assert guest.step == "Read"


@pytest.mark.parametrize("do", ["", "reveal", "../run", "x" * 3000])
def test_a_button_that_is_none_does_nothing(guest: Guest, do: str) -> None:
    assert guest.press(do, **PLAN).status == 200
    assert guest.step == "Read"


def test_long_texts_are_cut(guest: Guest) -> None:
    guest.press("check", **PLAN | {"why": "w" * 5000, "max_active": "9" * 5000})
    assert "w" * 501 not in guest.page.text
    assert "9" * 101 not in guest.page.text


@pytest.mark.parametrize(
    "path", ["/lab/design/../bench.py", "/lab/design/%2e%2e/bench.py", "/lab/design/x.css"]
)
def test_its_files_are_its_own_and_no_others(desk: Serving, path: str) -> None:
    assert Answer(desk.url + path).status in (403, 404)


def test_the_list_of_exercises_leads_here_and_back(desk: Serving, guest: Guest) -> None:
    assert 'href="lab/design"' in Answer(f"{desk.url}/app?lang=en").text
    assert 'href="../app?ex=little"' in guest.page.text
    assert re.search(r'href="../lab/design" aria-current="page"', guest.page.text)
    assert Answer(f"{desk.url}/read/en/design.html").status == 200


def test_a_learner_half_way_is_where_the_store_says(guest: Guest, desk: Serving) -> None:
    """A lock whose progress was never written: killed in between."""
    texts, _ = read({name: text for name, text in PLAN.items() if isinstance(text, str)}
                    | {"variables": "step_time,burstiness,output_lengths"}, required=False)  # fmt: skip
    store = open_store(Settings(data=desk.folder / "data"))
    place = Place(learner(guest), "design", 1)
    store.begin(place, None)
    store.lock(place, texts, confidence=None, why="")
    store.close()
    guest.open()
    assert guest.step == "Run"
    guest.press("run")
    assert guest.step == "Observe"
