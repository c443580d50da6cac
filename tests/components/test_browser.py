"""A run as a learner meets it: by keyboard, by pointer, on a phone, in the dark."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from app.components.tabled import table_of
from tests.components.conftest import Visit
from tests.components.harness import LONGEST, POLICIES, views

pytestmark = pytest.mark.ui


def cell(page: Page, request: str, tick: int, run: int = 0) -> object:
    """A cell of the timelines."""
    return (
        page.locator(".lab-timelines tbody")
        .nth(run)
        .locator(f"td[data-request='{request}'][data-tick='{tick}']")
    )


# ---- running --------------------------------------------------------------------------------------


def test_nothing_runs_before_the_lock(visit: Visit) -> None:
    page = visit.open()
    for name in ("Step", "Play", "Run to end", "Back"):
        expect(page.get_by_role("button", name=name)).to_be_disabled()
    expect(page.get_by_text("opens when your prediction is locked")).to_be_visible()
    sent = len(visit.sent)
    page.locator("h1").click()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("End")
    assert len(visit.sent) == sent
    expect(page.get_by_text("Nothing has run yet.").first).to_be_visible()


def test_step_asks_for_what_is_not_known(visit: Visit) -> None:
    page = visit.open(locked="1")
    label = page.locator(".lab-player .label")
    expect(label).to_have_text("before tick 0")
    page.get_by_role("button", name="Step").click()
    expect(label).to_have_text("tick 0 · 0.0–0.1 s")
    expect(page.get_by_role("status").filter(has_text="tick 0")).to_be_attached()
    page.keyboard.press("ArrowRight")
    expect(label).to_have_text("tick 1 · 0.1–0.2 s")
    page.keyboard.press("ArrowLeft")
    expect(label).to_have_text("tick 0 · 0.0–0.1 s")
    page.keyboard.press("End")
    expect(label).to_have_text(f"tick {LONGEST - 1} · 1.8–1.9 s")
    expect(page.get_by_role("button", name="Step")).to_be_disabled()
    page.keyboard.press("Home")
    expect(label).to_have_text("before tick 0")


def test_playing_what_is_known_sends_nothing(visit: Visit) -> None:
    page = visit.open(locked="1", ticks="all")
    page.get_by_role("combobox", name="Speed").select_option("1")  # many seconds to the end
    label = page.locator(".lab-player .label")
    page.locator("h1").click()
    sent = len(visit.sent)
    page.keyboard.press("Space")
    expect(label).to_have_text(re.compile(r"tick ([2-9]|1\d) "))
    assert len(visit.sent) == sent
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    page.wait_for_timeout(300)
    assert sum('"attr":"tick"' in frame for frame in visit.sent[sent:]) == 1  # once it stands still
    assert sum('"PATCH-DOC"' in frame for frame in visit.sent[sent:]) == 1


def test_dragging_moves_the_page_and_writes_once(visit: Visit) -> None:
    page = visit.open(locked="1", ticks="all")
    slider = page.get_by_role("slider", name="Tick shown")
    sent = len(visit.sent)
    slider.evaluate("(one) => { one.value = 6; one.dispatchEvent(new Event('input')) }")
    expect(page.locator(".lab-player .label")).to_contain_text("tick 5")
    expect(slider).to_have_attribute("aria-valuetext", "tick 5 · 0.5–0.6 s")
    assert len(visit.sent) == sent
    slider.evaluate("(one) => one.dispatchEvent(new Event('change'))")
    page.wait_for_timeout(200)
    assert len(visit.sent) > sent


def test_reduced_motion_jumps(visitor: Callable[..., Visit]) -> None:
    page = visitor(reduced_motion="reduce").open(locked="1", ticks="all")
    page.evaluate("""() => {
      window.seenTicks = []
      window.addEventListener("ticklab:tick", (event) => window.seenTicks.push(event.detail.tick))
    }""")
    page.get_by_role("button", name="Play").click()
    expect(page.locator(".lab-player .label")).to_contain_text(f"tick {LONGEST - 1}")
    assert set(page.evaluate("window.seenTicks")) == {LONGEST - 1}


def test_the_keys_are_asked_of_the_page(visit: Visit) -> None:
    page = visit.open(locked="1")
    page.evaluate("window.addEventListener('ticklab:help', () => { window.asked = true })")
    page.get_by_role("button", name="Keys").click()
    assert page.evaluate("window.asked")


# ---- seeing --------------------------------------------------------------------------------------


def test_later_ticks_stay_blank(visit: Visit) -> None:
    page = visit.open(locked="1", ticks="all")
    for _ in range(3):
        page.get_by_role("button", name="Step").click()
    expect(cell(page, "R02", 2)).to_have_text("w")
    expect(cell(page, "R02", 3)).to_have_text("")
    expect(cell(page, "R02", 3)).to_have_accessible_name(
        "Immediate: one request at a time, run to the end · R02 · tick 3: not reached yet."
    )
    page.get_by_role("button", name="Back").click()
    expect(cell(page, "R02", 2)).to_have_text("")


def test_a_cell_says_why(visit: Visit) -> None:
    page = visit.open(locked="1", ticks="all")
    page.get_by_role("button", name="Run to end").click()
    first = cell(page, "R01", 0)
    first.focus()
    for key in ("ArrowDown", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    expect(cell(page, "R02", 2)).to_be_focused()
    expect(page.locator(".lab-timelines .why")).to_contain_text("R02 · tick 2: Waits")
    expect(page.locator(".lab-form tr.lit, .lab-streams tr.lit")).to_have_count(2)
    page.keyboard.press("Enter")
    expect(page.locator(".lab-player .label")).to_contain_text("tick 2 ")
    assert page.locator(".lab-timelines [role=gridcell][tabindex='0']").count() == 1


def test_the_flag_stands_where_it_was_predicted(visit: Visit) -> None:
    page = visit.open(locked="1", ticks="all")
    expect(cell(page, "R02", 12).locator(".flag")).to_have_count(1)  # 0.10 + 1.20 s: the end of tick 12
    expect(cell(page, "R02", 12)).to_have_accessible_name(
        "Immediate: one request at a time, run to the end · R02 · tick 12: not reached yet."
        " You predicted its first token here, at 1.30 s."
    )
    expect(cell(page, "R02", 3, run=1).locator(".flag")).to_have_count(1)


def test_all_views_show_one_tick(visit: Visit) -> None:
    page = visit.open(locked="1", ticks="all")
    for _ in range(5):
        page.get_by_role("button", name="Step").click()
    strip = page.locator(".lab-strip")
    expect(strip.get_by_role("row").filter(has_text="continuous")).to_contain_text("7 / 24")
    expect(strip.get_by_role("row").filter(has_text="continuous")).to_contain_text("38 / 64")
    pages = page.locator(".lab-pages .map").first
    expect(
        pages.get_by_role("listitem").filter(has_text="Page 0: R01 has written 4 of 4 slots.")
    ).to_be_attached()
    expect(page.locator(".lab-log h3")).to_have_text("Tick 4 in words")
    expect(page.locator(".lab-backlog")).to_contain_text("now 3 · peak 3")
    expect(page.locator(".lab-streams tr").filter(has_text="R01").locator("q").first).to_have_text("e, th")


def test_anybody_may_move_the_tick(visit: Visit) -> None:
    page = visit.open(locked="1", ticks="all")
    page.evaluate(
        "window.dispatchEvent(new CustomEvent('ticklab:tick', { detail: { tick: 7, by: 'test' } }))"
    )
    expect(page.locator(".lab-player .label")).to_contain_text("tick 7")
    page.evaluate("window.dispatchEvent(new CustomEvent('ticklab:request', { detail: { id: 'R01' } }))")
    assert page.locator(".lab-pages .piece.lit").count() > 0


def shown_html(page: Page, picture: str) -> str:
    """The table of a picture, as the browser has it."""
    return str(page.locator(f"{picture} details.as-table > div").evaluate("(one) => one.innerHTML"))


def parsed(page: Page, html: str) -> str:
    """``html`` as a browser writes it back."""
    return str(
        page.evaluate(
            "(html) => Object.assign(document.createElement('div'), { innerHTML: html }).innerHTML",
            html,
        )
    )


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    ("picture", "kind", "names"),
    [
        (".lab-timelines", "timeline", POLICIES),
        (".lab-pages", "pages", ("continuous", "contiguous")),
        (".lab-backlog", "strip", POLICIES),
    ],
)
def test_a_table_is_that_of_the_static_pages(
    visit: Visit, language: str, picture: str, kind: str, names: tuple[str, ...]
) -> None:
    """Cut at the tick the page shows, and again when the tick moves."""
    page = visit.open(locked="1", ticks="all", lang=language)
    page.locator(f"{picture} details.as-table summary").click()
    for tick in range(3):
        page.locator(".lab-player button.step").click()
        view = {one.timeline.name: one for one in views(tick + 1, language)}
        wanted = parsed(page, table_of(kind, [view[name] for name in names], tick, language))
        assert "<table" in wanted
        expect(page.locator(f"{picture} details.as-table table").first).to_be_visible()
        assert without_link(shown_when_equal(page, picture, wanted)) == wanted


def shown_when_equal(page: Page, picture: str, wanted: str) -> str:
    """What is shown once the server has answered; what was shown last when it never becomes ``wanted``."""
    for _ in range(1200):
        html = shown_html(page, picture)
        if without_link(html) == wanted:
            break
        page.wait_for_timeout(50)
    return html


def without_link(html: str) -> str:
    return re.sub("^<link[^>]*>", "", html)


def test_a_page_of_the_pool_says_why(visit: Visit) -> None:
    page = visit.open(locked="1", ticks="all")
    for _ in range(2):
        page.get_by_role("button", name="Step").click()
    pool = page.locator(".lab-pages .pool").first
    pool.locator("[tabindex='0']").focus()
    why = page.locator(".lab-pages .why")
    expect(why).to_have_text("Page 0: R01 has written 4 of 4 slots.")
    page.keyboard.press("End")
    expect(why).to_have_text("Page 15: Free: nobody has used it yet.")
    expect(pool.locator("li:focus")).to_have_accessible_name(re.compile("Page 15: Free"))
    page.keyboard.press("ArrowLeft")
    expect(why).to_contain_text("Page 14")
    assert pool.locator("[tabindex='0']").count() == 1


def test_formats_are_compared_when_asked(visit: Visit) -> None:
    page = visit.open(locked="1", ticks="all")
    expect(page.locator(".lab-quantization figure")).to_have_count(0)
    page.get_by_role("button", name="Compare the three formats").click()
    expect(page.get_by_role("img", name="Relative error of each")).to_be_visible()
    expect(page.get_by_role("img", name="Largest difference of logits")).to_be_visible()
    expect(page.locator(".lab-quantization mark").first).to_have_text("oul of ")
    visit.until_quiet()
    sent = len(visit.sent)
    page.get_by_role("img", name="Relative error of each").hover()
    page.set_viewport_size({"width": 900, "height": 900})
    page.wait_for_timeout(300)
    assert len(visit.sent) == sent


# ---- for everybody --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("language", "scheme"), [("en", "light"), ("zh", "dark")])
def test_no_serious_barrier(visitor: Callable[..., Visit], language: str, scheme: str) -> None:
    visit = visitor(color_scheme=scheme, viewport={"width": 1280, "height": 900})
    visit.open(lang=language)
    _check(visit.page)
    page = visit.open(lang=language, locked="1", ticks="all")
    page.locator(".lab-player button.end").click()
    page.locator(".lab-quantization button").click()
    expect(page.locator(".lab-quantization .tables table").first).to_be_visible()
    for summary in page.locator("summary").all():
        summary.click()
    _check(page)


def _check(page: Page) -> None:
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    serious = [one for one in found if one["impact"] in ("serious", "critical")]
    assert not serious, [
        (one["id"], one["nodes"][0]["html"], one["nodes"][0]["failureSummary"]) for one in serious
    ]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_phone_scrolls_downwards_only(visitor: Callable[..., Visit], language: str) -> None:
    visit = visitor(viewport={"width": 390, "height": 800})
    visit.open(lang=language)
    visit.page.locator(".intro button").click()
    _fits(visit.page)
    page = visit.open(lang=language, locked="1", ticks="all")
    page.locator(".lab-player button.end").click()
    page.locator(".lab-quantization button").click()
    expect(page.locator(".lab-quantization .tables table").first).to_be_visible()
    _fits(page)
    region = page.locator(".lab-timelines > .scroll")
    assert region.evaluate("(one) => one.scrollWidth > one.clientWidth && one.scrollLeft > 0")
    assert region.get_attribute("tabindex") == "0"


def _fits(page: Page) -> None:
    page.wait_for_timeout(200)
    page.wait_for_function("document.documentElement.scrollWidth <= 390")


def test_targets_are_large_enough(visit: Visit) -> None:
    page = visit.open(locked="1", ticks="all")
    for button in page.locator(".lab-player button, .lab-player select, summary").all():
        box = button.bounding_box()
        assert box is not None
        assert box["height"] >= 44
