"""Free play in a real Chromium: run, stop, compare, share, take away; and cases C05, C08 and C13."""

from __future__ import annotations

import csv
import io
import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.play.sheets import EVIL, SCRIPT, rows, ticks
from tests.serving import Serving
from tests.ui.learner import Learner
from tests.ui.test_page import findings

pytestmark = pytest.mark.ui

RUNS = "window.ticklab.runs.map((run) => [run.timeline.title, run.strip.frames.length])"
ENDLESS = rows([("A", 0, 1, 500_000), ("B", 0, 1, 500_000)])
OPEN = "(field) => { const group = field.closest('details'); if (group) group.open = true }"
PNG = b"\x89PNG\r\n\x1a\n"


class Player:
    """What one does on the page."""

    def __init__(self, learner: Learner, query: str = "?play=") -> None:
        self.learner = learner
        self.page: Page = learner.open(query)
        self.find = learner.find

    def set(self, **fields: str) -> None:
        """Type into fields by id; a select takes its value."""
        for name, text in fields.items():
            field = self.find(f"#{name}, #set-{name}").first
            field.evaluate(OPEN)
            if field.evaluate("(field) => field.tagName") == "SELECT":
                field.select_option(text)
            else:
                field.fill(text)

    def press_run(self) -> None:
        self.find("#play-run").click()

    def run(self, state: str = "done") -> None:
        """Run, and wait for its end; the state before must not count."""
        self.page.evaluate("document.documentElement.dataset.play = 'asked'")
        self.press_run()
        self.wait(state)

    def wait(self, state: str) -> None:
        expect(self.find("html")).to_have_attribute("data-play", state, timeout=120_000)

    def runs(self) -> list[list[Any]]:
        return list(self.page.evaluate(RUNS))

    def compare(self) -> None:
        self.find("input[name=mode][value=compare]").check()

    def download(self, selector: str, to: Path) -> tuple[str, bytes]:
        with self.page.expect_download() as made:
            self.find(selector).click()
        file = to / "file"
        made.value.save_as(file)
        return made.value.suggested_filename, file.read_bytes()


@pytest.fixture
def play(learner: Learner) -> Player:
    return Player(learner)


def test_three_policies_side_by_side(play: Player) -> None:
    play.run()
    assert play.runs() == [["immediate", 19], ["static", 15], ["continuous", 12]]
    table = play.find("#summary table").first
    expect(table).to_contain_text("0.825")
    expect(play.find("#details table")).to_contain_text("R04")
    cell = play.find("#pictures [role=gridcell][data-request=R02][data-tick='3']").first
    cell.hover()
    expect(play.find(".why").first).to_contain_text("one request runs at a time")
    legend = play.find(".lab-timelines .legend").first
    expect(legend).to_contain_text("first token came")
    expect(legend).not_to_contain_text("predicted")  # nobody predicts here


def test_a_dead_switch_says_why_beside_its_control(play: Player) -> None:
    play.run()
    dead, alive = play.find("#switch-decode_order"), play.find("#switch-max_wait")
    expect(dead).to_have_text(
        "No effect on this trace, because never more than 3 requests want a decode slot in one tick, "
        "and nobody waits for one."
    )
    expect(dead).to_have_class("switch dead")
    expect(alive).to_contain_text("Matters under static: max_wait 0.1 would change")
    described = play.find("#set-decode_order").get_attribute("aria-describedby")
    assert "switch-decode_order" in (described or "")
    play.set(tick="1.0")
    play.run()
    expect(dead).to_contain_text("Matters under continuous: decode_order shortest would change R01, R04.")
    expect(dead).to_have_class("switch")


def test_a_against_b_tells_only_what_changed(play: Player) -> None:
    play.compare()
    play.set(tick="1.0")
    play.find("#run-title").fill("three slots")
    play.find("#keep").click()
    expect(play.find("#kept")).to_contain_text("three slots (tick 1.0)")
    play.set(decode_slots="4")
    play.find("#run-title").fill("four slots")
    play.run()
    assert play.runs() == [["A · three slots", 12], ["B · four slots", 12]]
    diff = play.find(".diff")
    expect(diff).to_contain_text("The first tick that differs: 2")
    expect(diff.locator("tbody th")).to_have_text(
        [
            "decode_slots",
            "R04",
            *("TPOT mean, s", "TPOT p95, s", "ITL mean, s", "E2E mean, s"),
            *("KV held, peak tokens", "KV written, peak tokens"),
            *("R04 · TPOT", "R04 · E2E"),
        ]
    )


# ---- C05: a run can be stopped ---------------


def endless(play: Player) -> None:
    play.set(trace=ENDLESS, pages="none", page_size="1000000", decode_slots="1", decode_order="round_robin")


def stop_in_time(play: Player) -> int:
    """Stop the run that goes on; at which tick it says it did."""
    play.find("#play-stop").click()
    play.wait("stopped")
    text = play.find("#progress").inner_text()
    assert text.startswith("Stopped at tick ")
    assert play.runs() == []
    expect(play.find("#result")).to_be_hidden()
    return int(text.removeprefix("Stopped at tick ").partition(".")[0])


def test_a_million_ticks_are_stopped_and_the_next_run_is_a_fresh_one(
    play: Player, learners: Callable[..., Learner], lab: Serving
) -> None:
    endless(play)
    play.press_run()
    expect(play.find("#progress")).to_contain_text("Running static: tick", timeout=120_000)
    play.find("#run-title").evaluate("(field) => field.closest('.only-compare').hidden")  # the page answers
    play.set(horizon="0.1")
    play.set(horizon="")
    assert 0 < stop_in_time(play) < 1_000_000
    play.find("#load-preset").click()
    play.set(pages="", page_size="", decode_slots="", decode_order="fcfs")
    play.run()
    fresh = Player(learners(lab))
    fresh.run()
    assert play.page.evaluate("JSON.stringify(window.ticklab.runs)") == fresh.page.evaluate(
        "JSON.stringify(window.ticklab.runs)"
    )
    assert play.find("#summary").inner_html() == fresh.find("#summary").inner_html()


def test_a_run_that_is_stopped_and_run_again_goes_the_same_way(play: Player) -> None:
    endless(play)
    for _ in range(2):
        play.press_run()
        expect(play.find("#progress")).to_contain_text("Running static: tick", timeout=120_000)
        assert 0 < stop_in_time(play) < 1_000_000


def test_two_thousand_tokens_of_the_engine_are_stopped(play: Player) -> None:
    play.compare()
    play.set(trace=rows((f"R{n}", 0, 8, 500) for n in range(4)), pages="512", engine="fp32")
    play.press_run()
    play.page.wait_for_function(
        "Number(document.querySelector('#progress').textContent.match(/tick (\\d+)/)?.[1]) >= 16",
        timeout=120_000,
    )
    assert 16 <= stop_in_time(play) < 667
    play.find("#load-preset").click()
    play.set(engine="fp32", pages="")
    play.run()
    assert play.runs() == [["B", 12]]
    expect(play.find("#texts")).to_contain_text("R01")


# ---- C08: the figures show just the new data ---------------


def test_the_pictures_are_as_long_as_each_run(play: Player) -> None:
    for count in (100, 10, 300):
        play.set(trace=ticks(count), pages="none")
        play.run()
        assert play.runs() == [[policy, count] for policy in ("immediate", "static", "continuous")]
        columns = max(count, 20)
        assert play.find("#pictures table[role=grid]").first.locator("thead th:not(.name)").count() == columns
        filled = play.find("#pictures td.k-first, #pictures td.k-decode, #pictures td.k-last")
        assert filled.count() == 3 * count
        assert play.page.evaluate("window.ticklab.tick") == count - 1
        slider = play.find("#pictures input[type=range]")
        assert int(slider.get_attribute("max") or 0) == count
        assert play.find("#pictures .bars").first.locator(".bar").count() == columns
    play.set(trace="")
    play.run("nothing")
    expect(play.find("#nothing")).to_have_text("No data: the trace holds no request.")
    expect(play.find("#result")).to_be_hidden()
    assert play.runs() == []
    assert play.page.evaluate("window.ticklab.tick") == -1
    expect(play.find(".switch").first).to_be_empty()
    expect(play.find("[data-file=csv]")).to_be_disabled()


# ---- C13: text of a visitor is text ---------------


def test_markup_in_a_file_is_text_everywhere(play: Player, tmp_path: Path) -> None:
    play.page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
    play.compare()
    play.find("#run-title").fill(EVIL)
    play.find("#keep").click()
    out = io.StringIO()
    table = csv.writer(out)
    table.writerow(["id", "arrival", "prompt_tokens", "output_tokens", "prompt", "model", SCRIPT])
    table.writerow([SCRIPT, 0, len(EVIL), 3, EVIL, SCRIPT, EVIL])
    file = {"name": f"{EVIL}.csv", "mimeType": "text/csv", "buffer": out.getvalue().encode()}
    play.find("#trace-file").set_input_files([file])  # type: ignore[list-item]
    expect(play.find("#trace-seen")).to_contain_text(f"{EVIL}.csv: 1 requests")
    expect(play.find("#trace-seen")).to_contain_text(SCRIPT)
    expect(play.find("#trace-name")).to_have_text(f"{EVIL}.csv")
    assert SCRIPT in play.find("#trace").input_value()
    play.find("#run-title").fill(SCRIPT)
    play.set(engine="fp32", pages="64")
    play.run()
    for text in (EVIL, SCRIPT):
        expect(play.find("#summary")).to_contain_text(text)
        expect(play.find("#details")).to_contain_text(text)
        expect(play.find("#pictures")).to_contain_text(text)
    expect(play.find("#texts")).to_contain_text(EVIL)
    play.find("#pictures [role=gridcell][data-tick='0']").first.hover()
    expect(play.find(".why").first).to_contain_text(EVIL)
    for selector in ("#summary img", "#details img", "#trace-seen img", "#pictures img", "#summary script"):
        assert play.find(selector).count() == 0, selector
    name, made = play.download("[data-file=json]", tmp_path)
    assert name == "ticklab-script-alert-1-script.json"
    assert f"B · {SCRIPT}" in json.loads(made)["runs"]
    name, made = play.download("[data-file=chrome]", tmp_path)
    assert SCRIPT in {e["args"].get("name") for e in json.loads(made)["traceEvents"]}
    name, made = play.download("#png", tmp_path)
    assert (name, made[:8]) == ("ticklab-script-alert-1-script.png", PNG)


def test_markup_in_an_error_is_text(play: Player) -> None:
    play.page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
    file = {"name": f"{EVIL}.csv", "mimeType": "text/csv", "buffer": f"{SCRIPT},b\n1,2\n".encode()}
    play.find("#trace-file").set_input_files([file])  # type: ignore[list-item]
    expect(play.find("#trace-problem")).to_contain_text(f"{EVIL}.csv: its columns ({SCRIPT}, b) are of no")
    assert play.find("#trace-problem img").count() == 0


# ---- what is wrong ---------------


def test_a_wrong_setting_is_marked_and_told(play: Player) -> None:
    play.set(tick="0")
    play.run("idle")
    expect(play.find("#problem")).to_have_text(
        "tick: 0 is not above 0; a length in seconds such as 0.1 is needed"
    )
    expect(play.find("#set-tick")).to_have_attribute("aria-invalid", "true")
    expect(play.find("#set-tick")).to_be_focused()
    play.set(tick="")
    play.run()
    expect(play.find("#problem")).to_be_empty()
    assert play.find("[aria-invalid]").count() == 0


def test_a_wrong_row_is_told_with_its_column(play: Player) -> None:
    play.set(trace="id,arrival,prompt_tokens,output_tokens\nR01,0,3,2\nR02,soon,3,2\n")
    play.find("#look").click()
    expect(play.find("#trace-problem")).to_contain_text(
        "trace: row 3: column arrival: 'soon' is not a number"
    )
    expect(play.find("#trace")).to_be_focused()


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("big.csv", b"x" * 1_000_001, "big.csv: it has 1000001 bytes; at most 1000000 are taken here."),
        ("picture.csv", b"\x89PNG\xff\xfe", "picture.csv: it is no UTF-8 or UTF-16 text"),
    ],
)
def test_a_file_that_is_not_taken_says_why(play: Player, name: str, content: bytes, said: str) -> None:
    before = play.find("#trace").input_value()
    play.find("#trace-file").set_input_files([{"name": name, "mimeType": "text/csv", "buffer": content}])
    expect(play.find("#trace-problem")).to_contain_text(said)
    assert play.find("#trace").input_value() == before


def test_a_file_as_large_as_it_may_be_is_read(play: Player) -> None:
    lines = [f"R{n},{n},3,2" for n in range(20_000)]
    text = "id,arrival,prompt_tokens,output_tokens\n" + "\n".join(lines)
    content = text.encode("utf-16")
    play.find("#trace-file").set_input_files(
        [{"name": "wide.csv", "mimeType": "text/csv", "buffer": content}]
    )
    expect(play.find("#trace-seen")).to_contain_text("wide.csv: 20000 requests", timeout=120_000)
    play.compare()
    play.run()
    expect(play.find("#summary")).to_contain_text("20000/20000")
    expect(play.find("#pictures")).to_be_hidden()
    expect(play.find("#png")).to_be_disabled()


# ---- share and take away ---------------


def test_a_short_link_brings_everything_to_another_browser(
    play: Player, learners: Callable[..., Learner], lab: Serving
) -> None:
    play.compare()
    play.find("#run-title").fill("first")
    play.find("#keep").click()
    play.set(tick="1.0", slo_ttft="2")
    play.find("#run-title").fill("second")
    play.find("#share").click()
    expect(play.find("#link")).to_be_visible()
    address = play.find("#link").input_value()
    assert address == play.page.url
    code = address.partition("?play=")[2]
    assert 8 <= len(code) <= 12
    other = Player(learners(lab), f"?play={code}")
    assert other.find("#set-tick").input_value() == "1.0"
    assert other.find("#slo_ttft").input_value() == "2"
    expect(other.find("#kept")).to_contain_text("first")
    other.run()
    assert [title for title, _ in other.runs()] == ["A · first", "B · second"]
    other.find("header a[hreflang^=zh]").click()
    other.learner.ready()
    assert other.find("#set-tick").input_value() == "1.0"
    expect(other.find("h1")).to_have_text("自由实验")


def test_an_unknown_link_says_so(learner: Learner, lab: Serving) -> None:
    learner.expected.append("404")
    answer = learner.page.goto(f"{lab.page}?play=aaaaaaaaaa")
    assert answer is not None
    assert answer.status == 404
    expect(learner.find("h1")).to_have_text("There is no such link")


def test_every_file_can_be_taken(play: Player, tmp_path: Path) -> None:
    play.run()
    name, made = play.download("[data-file=csv]", tmp_path)
    assert name == "ticklab-R01-R04.csv"
    assert len(list(csv.reader(io.StringIO(made.decode("utf-8-sig"))))) == 13
    assert play.download("[data-file=csv]", tmp_path) == (name, made)  # and taken again
    name, made = play.download("[data-file=json]", tmp_path)
    assert json.loads(made)["runs"]["static"]["summary"]["ticks"] == 15
    name, made = play.download("[data-file=chrome]", tmp_path)
    assert name == "ticklab-R01-R04.trace.json"
    assert len(json.loads(made)["traceEvents"]) > 100
    name, made = play.download("#png", tmp_path)
    width, height = struct.unpack(">II", made[16:24])
    assert (name, made[:8]) == ("ticklab-R01-R04.png", PNG)
    assert width >= 1800
    assert height >= 1000


def test_what_was_run_is_there_after_a_reload(play: Player) -> None:
    play.set(tick="1.0")
    play.run()
    play.learner.reload()
    assert play.find("#set-tick").input_value() == "1.0"
    play.run()
    assert play.runs()[0] == ["immediate", 19]


# ---- for everybody ---------------


@pytest.mark.parametrize(("language", "scheme"), [("en", "light"), ("zh", "dark")])
def test_axe_finds_nothing_serious(
    learners: Callable[..., Learner], lab: Serving, language: str, scheme: str
) -> None:
    play = Player(learners(lab, color_scheme=scheme), f"?play=&lang={language}")
    assert findings(play.page) == []
    play.compare()
    play.find("#keep").click()
    play.set(decode_slots="1")
    play.find("#look").click()
    play.run()
    play.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
    assert findings(play.page) == []


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_phone_never_scrolls_sideways(
    learners: Callable[..., Learner], lab: Serving, language: str
) -> None:
    screen = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    phone = learners(lab, **screen, reduced_motion="reduce")  # else the page still glides when it is touched
    play = Player(phone, f"?play=&lang={language}")
    width = "document.scrollingElement.scrollWidth"
    assert play.page.evaluate(width) <= 390
    play.compare()
    play.find("#run-title").fill("x" * 60)
    play.find("#keep").click()
    play.set(decode_slots="1")
    play.find("#look").click()
    play.run()
    play.find("#share").click()
    expect(play.find("#link")).to_be_visible()
    assert play.page.evaluate(width) <= 390
    small = play.page.evaluate(
        "[...document.querySelectorAll('.play button, .play select, .play input, .play summary')]"
        ".filter((one) => one.offsetParent && !one.matches('.quiet, [type=radio]') && one.offsetHeight < 44)"
        ".map((one) => one.outerHTML.slice(0, 80))"
    )
    assert small == []


def test_pictures_and_tables_have_the_width_beside_the_form(play: Player) -> None:
    """At 1280 px nothing of a run is squeezed into a part of its column."""
    play.page.set_viewport_size({"width": 1280, "height": 900})
    play.run()
    column = play.find(".results").evaluate("(one) => one.clientWidth")
    assert column > 700
    for part in ("#summary table", "#pictures table[role=grid]", "#pictures .bars"):
        width = play.find(part).first.evaluate("(one) => one.getBoundingClientRect().right")
        left = play.find(".results").evaluate("(one) => one.getBoundingClientRect().left")
        assert width - left > 0.75 * column, part


def test_everything_by_keyboard(play: Player) -> None:
    learner = play.learner
    play.find("h1").click()
    learner.tab_to(id="trace")
    learner.press("Control+End", "Enter")
    play.page.keyboard.type("R05,0.5,4,2,More")
    learner.tab_to(id="set-decode_slots")
    play.page.keyboard.type("2")
    learner.tab_to(id="play-run")
    learner.press("Enter")
    play.wait("done")
    assert len(play.page.evaluate("window.ticklab.runs[0].timeline.rows")) == 5
    expect(play.find("#announcement")).to_have_text("Done.")
    learner.tab_to(id="share")
    learner.press("Enter")
    expect(play.find("#link")).to_be_visible()


def test_without_a_script_the_page_says_what_to_do(learners: Callable[..., Learner], lab: Serving) -> None:
    learner = learners(lab, java_script_enabled=False)
    learner.page.goto(f"{lab.page}?play=")
    expect(learner.find("main noscript pre")).to_be_visible()
    for text in ("Free play needs JavaScript", "python -m engine simulate TRACE"):
        assert text in learner.find("main noscript").inner_html()
    expect(learner.find("#play-form")).to_be_hidden()
    learner.find("main .card a").click()
    expect(learner.find("h1")).to_be_visible()
    assert "/read/en/" in learner.page.url


def test_the_list_of_exercises_leads_here(learner: Learner) -> None:
    learner.open()
    learner.find("details.contents summary").click()
    learner.find("details.contents").get_by_role("link", name="Free play").click()
    learner.ready()
    expect(learner.find("h1")).to_have_text("Free play")
