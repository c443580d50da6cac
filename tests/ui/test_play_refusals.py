"""Free play in Chinese: what is wrong is one Chinese sentence, at its field."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.serving import Serving
from tests.ui.learner import Learner
from tests.ui.player import Player

pytestmark = pytest.mark.ui

HEADER = "id,arrival,prompt_tokens,output_tokens\n"


@pytest.fixture
def chinese(learners: Callable[..., Learner], lab: Serving) -> Player:
    """A Chinese visitor at free play."""
    return Player(learners(lab), "?play=&lang=zh")


def test_a_wrong_setting_is_told_at_its_field(chinese: Player) -> None:
    chinese.set(tick="0")
    chinese.run("idle")
    expect(chinese.find("#problem")).to_have_text("tick：0 不大于 0，应为一段秒数，如 0.1。")
    expect(chinese.find("#set-tick")).to_have_attribute("aria-invalid", "true")
    expect(chinese.find("#set-tick")).to_be_focused()
    chinese.set(tick="")
    chinese.run()
    expect(chinese.find("#problem")).to_be_empty()


@pytest.mark.parametrize(
    ("trace", "said"),
    [
        (HEADER + "R01,0,3,2\nR02,soon,3,2\n",
         "trace：第 3 行：列 arrival：'soon' 不是秒数，应为 0.1 这样的数。"),
        (HEADER + "R01,0,3\n", "trace：第 2 行：这一行有 3 格，表头有 4 格，两者应一致。"),
        (HEADER + "R01,0,3,2\nR01,1,3,2\n",
         "trace：第 3 行：id 'R01' 与第 2 行重复，每个请求的 id 应各不相同。"),
        ('{"arrival": 0', "trace：第 1 行第 14 个字符：不是正确的 JSON：此处应为逗号。"),
    ],
)  # fmt: skip
def test_a_wrong_trace_is_told_with_its_place(chinese: Player, trace: str, said: str) -> None:
    chinese.set(trace=trace)
    chinese.find("#look").click()
    expect(chinese.find("#trace-problem")).to_have_text(said)
    expect(chinese.find("#trace")).to_be_focused()


def test_a_file_is_told_by_its_name(chinese: Player, tmp_path: Path) -> None:
    file = tmp_path / "课堂.csv"
    file.write_text(HEADER + "R01,-1,3,2\n", encoding="utf-8")
    chinese.find("#trace-file").set_input_files(file)
    expect(chinese.find("#trace-problem")).to_have_text(
        "课堂.csv：第 2 行：列 arrival：-1 是负数，到达时间应不小于 0。"
    )
