"""Files and links of free play: what is brought in is text (case C13), what is taken away is whole."""

from __future__ import annotations

import csv
import io
import json
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import FilePayload, expect

from tests.play.sheets import EVIL, SCRIPT
from tests.serving import Serving
from tests.ui.learner import Learner
from tests.ui.player import Player

pytestmark = pytest.mark.ui

PNG = b"\x89PNG\r\n\x1a\n"


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
    file: FilePayload = {"name": f"{EVIL}.csv", "mimeType": "text/csv", "buffer": out.getvalue().encode()}
    play.find("#trace-file").set_input_files(file)
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
    rows = f"{SCRIPT},b\n1,2\n".encode()
    file: FilePayload = {"name": f"{EVIL}.csv", "mimeType": "text/csv", "buffer": rows}
    play.find("#trace-file").set_input_files(file)
    expect(play.find("#trace-problem")).to_contain_text(f"{EVIL}.csv: its columns ({SCRIPT}, b) are of no")
    assert play.find("#trace-problem img").count() == 0


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
