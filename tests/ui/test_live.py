"""C09: backlog, running and KV, live for 500 ticks at the fastest speed: nothing is ever of two lengths."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.play.sheets import rows
from tests.serving import Serving
from tests.ui.learner import Learner
from tests.ui.player import Player

pytestmark = pytest.mark.ui

TICKS = 500
WATCH = """() => {
  const heard = window.heard = { bad: [], ticks: [], columns: 0 }
  window.addEventListener("ticklab:tick", ({ detail }) => {
    heard.ticks.push(detail.tick)
    for (const { timeline, strip, pages, log } of window.ticklab.runs) {
      const lengths = [timeline.ms, strip.frames, pages.frames, log.frames].map((column) => column.length)
      heard.columns += 1
      if (new Set(lengths).size !== 1) heard.bad.push(lengths)
    }
  })
}"""
BARS = "(row) => row.querySelectorAll('.bar.reached').length"


def test_c09_five_hundred_ticks_at_the_fastest(learner: Learner, lab: Serving, tmp_path: Path) -> None:
    """One long request, and others that come and go beside it; the last point is what the file says."""
    play = Player(learner)
    crowd = [(f"R{n}", 8 * (n // 6), 8, 12) for n in range(1, 12)]  # a picture holds 6,000 cells
    play.set(trace=rows([("R0", 0, 1, TICKS), *crowd]), pages="24", page_size="32", max_active="3")
    play.compare()
    play.run()
    assert play.runs() == [["B", TICKS]]
    logged = lab.log.read_text()
    play.page.evaluate(WATCH)
    play.find("#pictures .lab-player select").select_option("8")
    sent = len(learner.sent)
    play.find("#pictures .lab-player button.play").click()
    play.page.wait_for_function("last => window.ticklab.tick === last", arg=TICKS - 1, timeout=240_000)
    heard: dict[str, Any] = play.page.evaluate("window.heard")
    assert heard["bad"] == []
    assert heard["ticks"][: TICKS + 1] == list(range(-1, TICKS))
    assert heard["columns"] >= TICKS
    assert all('"tick"' in frame or len(frame) < 300 for frame in learner.sent[sent:])
    assert lab.log.read_text() == logged
    assert learner.complaints == []
    frames = play.page.evaluate("window.ticklab.runs[0].strip.frames")
    summary = json.loads(play.download("[data-file=json]", tmp_path)[1])["runs"]["B"]["summary"]
    assert len(frames) == summary["ticks"] == TICKS
    assert max(frame["waiting"] for frame in frames) == summary["peak_waiting"] > 0
    assert max(frame["held"] for frame in frames) == summary["peak_held_tokens"]
    assert play.find("#pictures .bars").first.evaluate(BARS) == TICKS
    shown = play.find("#pictures .lab-strip tbody tr td .figure").all_inner_texts()
    last = frames[-1]
    assert [text.split("/")[0].split(" ")[0] for text in shown] == [
        str(last[name]) for name in ("prefill", "decode", "held", "waiting")
    ]
