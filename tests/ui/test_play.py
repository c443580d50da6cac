"""Free play in a real Chromium: run, stop, compare, and what is wrong; cases C05 and C08."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.play.sheets import rows, ticks
from tests.serving import Serving
from tests.ui.learner import Learner
from tests.ui.player import Player

pytestmark = pytest.mark.ui

ENDLESS = rows([("A", 0, 1, 500_000), ("B", 0, 1, 500_000)])


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
    # Three times as many, so that a quick engine has not come to its end when a slow browser stops it.
    play.set(trace=rows((f"R{n}", 0, 8, 500) for n in range(12)), pages="512", engine="fp32")
    play.press_run()
    play.page.wait_for_function(
        "Number(document.querySelector('#progress').textContent.match(/tick (\\d+)/)?.[1]) >= 16",
        timeout=120_000,
    )
    assert 16 <= stop_in_time(play) < 2000
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
