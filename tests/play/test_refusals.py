"""What free play does not take is told in the visitor's language: by the job, and through its process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from app.play.page import field_of
from app.play.sheet import MOST_ROWS, Sheet
from app.play.state import Play
from app.server import Server
from app.settings import Settings
from app.worker import WorkerRefused
from engine import InputError
from tests.chinese import check
from tests.play.sheets import news, rows, setup, sheet, ticks

HEADER = "id,arrival,prompt_tokens,output_tokens\n"
WRONG: list[tuple[str, Sheet, str, str]] = [
    ("look", sheet(tick="0"), "tick", "tick：0 不大于 0，应为一段秒数，如 0.1。"),
    ("look", sheet(pages="x"), "pages", "pages：'x' 无效，应为不小于 1 的整数；不设限则填 none。"),
    ("look", sheet(policy="fair"), "policy", "policy：'fair' 无效，可选值：immediate、static、continuous。"),
    ("look", sheet(prefix_cache="maybe"), "prefix_cache", "prefix_cache：'maybe' 无效，应为 true 或 false。"),
    ("look", sheet(of={"horizon": "soon"}), "horizon", "horizon：'soon' 不是秒数，应为 0.1 这样的数。"),
    ("look", sheet(of={"slo_ttft": "-1"}), "slo_ttft", "slo_ttft：-1 是负数，应为以秒计的上限，如 0.5。"),
    (
        "look",
        sheet(of={"mode": "compare", "kept": setup(tick="0")}),
        "tick",
        "A：tick：0 不大于 0，应为一段秒数，如 0.1。",
    ),
    (
        "look",
        sheet(HEADER + "R01,0,x,2", name="my.csv"),
        "trace",
        "my.csv：第 2 行：列 prompt_tokens：'x' 不是 token 数，应为 18 这样的整数。",
    ),
    (
        "look",
        sheet(HEADER + "R01,0,3\n"),
        "trace",
        "trace：第 2 行：这一行有 3 格，表头有 4 格，两者应一致。",
    ),
    (
        "look",
        sheet(rows([("R01", 0, 1, 1), ("R01", 0, 1, 1)])),
        "trace",
        "trace：第 3 行：id 'R01' 与第 2 行重复，每个请求的 id 应各不相同。",
    ),
    (
        "look",
        sheet('[{"arrival": 0,}]'),
        "trace",
        "trace：第 1 行第 16 个字符：不是正确的 JSON：此处应为用双引号括起的字段名。",
    ),
    (
        "look",
        sheet(rows((f"R{n}", 0, 1, 1) for n in range(MOST_ROWS + 1))),
        "trace",
        "trace：有 20001 行，这里最多接受 20000 行。",
    ),
    (
        "look",
        sheet(rows([("R01", 0, 1, 5_000_001)])),
        "trace",
        "trace：输出共 5000001 个 token，这里最多接受 5000000 个。",
    ),
    (
        "look",
        sheet(rows((f"R{n}", 0, 9_000_000, 1) for n in range(6))),
        "trace",
        "trace：prompt 共 54000000 个 token，这里最多接受 50000000 个。",
    ),
    ("look", sheet("é" * 600_000), "trace", "trace：有 1200000 字节，这里最多接受 1000000 字节。"),
    (
        "play",
        sheet(kv_layout="contiguous", pages="none"),
        "pages",
        "pages：contiguous 的 KV 需要大小固定的池，如 16 页。",
    ),
    (
        "prepare",
        sheet(pages="none"),
        "pages",
        "pages：不限大小的池对 torch 引擎太大，最多 8192 个 token。",
    ),
    (
        "prepare",
        sheet(pages="3000"),
        "pages",
        "pages：12000 个 token 的池对 torch 引擎太大，最多 8192 个 token。",
    ),
    (
        "prepare",
        sheet(rows((f"R{n}", 0, 1, 1) for n in range(201))),
        "trace",
        "trace：有 201 个请求，这里的 torch 引擎最多接受 200 个。",
    ),
    (
        "chrome",
        sheet(ticks(5_000), pages="none"),
        "horizon",
        "horizon：运行的 tick 或请求太多，放不进这种文件；设置 horizon 可以缩短。",
    ),
]


@pytest.mark.parametrize(("kind", "one", "field", "said"), WRONG)
def test_a_wrong_sheet_is_told_in_chinese_and_finds_its_field(
    kind: Any, one: Sheet, field: str, said: str
) -> None:
    with pytest.raises(InputError) as error:
        news(kind, one, "zh")
    assert error.value.told("zh") == said
    check(said, "A fair maybe soon x my csv slo_ttft")
    assert field_of(str(error.value)) == field


@pytest_asyncio.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    made = Server(Settings(data=tmp_path, command_seconds=60))
    yield made
    await made.close()


@pytest.mark.asyncio
async def test_the_process_that_plays_tells_it_in_both_languages(server: Server) -> None:
    play = Play(server=server, language="zh")
    with pytest.raises(WorkerRefused) as refused:
        await play.play(sheet(HEADER + "R01,-1,3,2\n"))
    assert refused.value.told("zh") == "trace：第 2 行：列 arrival：-1 是负数，到达时间应不小于 0。"
    assert str(refused.value) == refused.value.told("en")
    assert str(refused.value) == "trace: row 2: column arrival: -1 is negative; 0 or later is needed"
    await play.play(sheet())
    assert play.state == "done"
