"""The components on one page, fed with real runs of the ledger: for looking at them and for their tests.

``python -m tests.components.harness PORT`` serves it. The address takes ``lang``, ``theme``, ``locked``
and ``ticks`` (how many are delivered from the start; ``all`` for a recorded run).
"""

from __future__ import annotations

import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

import panel as pn

from app.components import (
    Backlog,
    Log,
    PageMaps,
    Player,
    PredictionForm,
    Quantization,
    Runs,
    Streams,
    Strip,
    Timelines,
)
from engine import History, Service, simulate
from engine.records import Outcome, Plan, Result, Work
from engine.traces import main_trace
from puzzles.views.model import RunView
from puzzles.views.run_views import run_view
from puzzles.words import puzzle_words

SERVICES = {
    "immediate": Service(policy="immediate"),
    "static": Service(policy="static"),
    "continuous": Service(),
    "contiguous": Service(kv_layout="contiguous"),
    "slow": Service(tick="1.0"),
}
POLICIES = ("immediate", "static", "continuous")
SAID = {"R01": "e, that is t", "R02": "d,", "R03": ", 我", "R04": "g "}


class Pretender:
    """Executes a plan with fixed text and made-up milliseconds, the same every time."""

    def __init__(self) -> None:
        self._said: dict[str, int] = {}

    def execute(self, plan: Plan) -> Outcome:
        results = {key: Result((self._next(key),)) for key in plan.emitting}
        tokens = len(plan.decode) + sum(chunk.count for chunk in plan.prefill)
        ms = 2.1 + 0.34 * tokens + 0.13 * (plan.tick % 3)
        return Outcome(results, Work(1, tokens, tokens * 1_600_000, ms) if plan.has_work else None)

    def _next(self, key: str) -> int:
        place = self._said.get(key, 0)
        self._said[key] = place + 1
        data = SAID[key].encode()
        return data[place % len(data)]


@cache
def history(name: str) -> History:
    """The whole run ``name``."""
    return simulate(main_trace(), SERVICES[name], executor=Pretender())


def first(name: str, ticks: int) -> History:
    """The first ``ticks`` ticks of a run."""
    whole = history(name)
    return History(whole.service, whole.requests, whole.records[:ticks], whole.horizon)


LONGEST = max(len(history(name).records) for name in SERVICES if name != "slow")


def views(ticks: int, language: str) -> list[RunView]:
    """What the page has been given after ``ticks`` ticks."""
    return [run_view(first(name, ticks), name, language) for name in SERVICES]


def columns(language: str) -> dict[str, str]:
    words = puzzle_words(language)
    return {name: words(f"run.{name}.short") for name in (*POLICIES, "slow")}


def questions(language: str) -> list[dict[str, Any]]:
    """The fields of the main exercise, written out."""
    zh = language == "zh"
    required = {"immediate.R02.ttft", "static.R02.ttft", "continuous.R02.ttft", "continuous.R01.tpot"}
    grid = [
        _field(f"{run}.{request}.{metric}", "policies", run, request, metric, required)
        for run in POLICIES
        for request in ("R01", "R02", "R03", "R04")
        for metric in ("ttft", "tpot")
    ]
    slow = [_field(f"slow.{r}.tpot", "slow", "slow", r, "tpot", None) for r in ("R01", "R02", "R03", "R04")]
    best = _field("p95.best", "policies", None, None, "best_p95", None)
    best |= {
        "unit": "",
        "label": "哪种策略的 p95 TTFT 最好？" if zh else "Which policy has the best p95 TTFT?",
        "choices": [{"value": name, "label": columns(language)[name]} for name in POLICIES],
    }
    kv = _field("R01.kv_mb", "policies", None, "R01", "kv_mb", None)
    kv |= {"unit": "MB", "label": "R01 预留多少 KV？" if zh else "How much KV is reserved for R01?"}
    return [*grid, best, kv, *slow]


def _field(
    key: str, part: str, run: str | None, request: str | None, metric: str, required: set[str] | None
) -> dict[str, Any]:
    return {
        "key": key,
        "part": part,
        "run": run,
        "policy": run,
        "request": request,
        "metric": metric,
        "unit": "s",
        "required": required is None or key in required,
        "choices": None,
        "label": key,
    }


def parts(language: str) -> list[dict[str, str]]:
    if language == "zh":
        return [
            {
                "name": "policies",
                "title": "第一部分：三种策略，tick = 0.1 s",
                "note": "单位为秒，从请求到达时刻起算。",
            },
            {"name": "slow", "title": "第二部分：慢机器，tick = 1.0 s", "note": "continuous，其余设置不变。"},
        ]
    return [
        {
            "name": "policies",
            "title": "Part 1: three policies, tick 0.1 s",
            "note": "Seconds, counted from the arrival.",
        },
        {
            "name": "slow",
            "title": "Part 2: a slow machine, tick 1.0 s",
            "note": "Continuous; nothing else changes.",
        },
    ]


PREDICTIONS = {
    "immediate": {"R02": 1.2, "R03": 1.0},
    "static": {"R02": 0.3},
    "continuous": {"R02": 0.1},
}


class Page:
    """One learner of the harness: answers the components as the app would."""

    def __init__(self, language: str, locked: bool, ticks: int) -> None:
        self.language = language
        self.ticks = ticks
        self.locks: list[dict[str, str]] = []
        self.form = PredictionForm(
            language=language,
            fields=questions(language),
            parts=parts(language),
            columns=columns(language),
            locked=locked,
            draft={"immediate.R02.ttft": "1.20", "confidence": "3"} if locked else {},
            storage_id="harness",
        )
        self.player = Player(language=language, enabled=locked)
        self.runs = Runs()
        shown = {"language": language, "names": list(POLICIES)}
        self.timelines = Timelines(**shown)
        self.strip = Strip(**shown)
        self.maps = PageMaps(language=language, names=["continuous", "contiguous"])
        self.backlog = Backlog(**shown)
        self.streams = Streams(**shown, prompts={r.id: r.prompt for r in main_trace()})
        self.log = Log(**shown)
        for picture in (self.timelines, self.maps, self.backlog):
            picture.param.watch(lambda event: event.obj.answer(self.views()), "asked")
        self.quantization = Quantization(language=language, enabled=locked)
        self.quantization.param.watch(self.compare, "asked")
        self.form.param.watch(self.lock, "lock")
        self.player.param.watch(lambda _: self.deliver(self.ticks + 1), "request_step")
        self.player.param.watch(lambda _: self.deliver(LONGEST), "request_end")
        if locked:
            self.open()

    def lock(self, _: object) -> None:
        draft = self.form.draft
        self.locks.append(draft)
        problems = {
            field["key"]: "需要一个数字，例如 0.10。"
            if self.language == "zh"
            else "A number is needed, such as 0.10."
            for field in self.form.fields
            if field["required"] and not draft.get(field["key"])
        }
        if problems:
            self.form.refuse(problems)
            return
        self.form.locked = True
        self.open()

    def compare(self, _: object) -> None:
        comparison = json.loads(Path(__file__).with_name("comparison.json").read_text())
        ms = {"fp32": [4.1, 3.9], "int8": [3.2, None], "int4": [5.0]}
        self.quantization.show(comparison, ms)

    def open(self) -> None:
        self.player.enabled = self.quantization.enabled = True
        self.timelines.predictions = PREDICTIONS
        self.deliver(self.ticks)

    def deliver(self, ticks: int) -> None:
        self.ticks = min(ticks, LONGEST)
        self.runs.show(views(self.ticks, self.language))
        self.player.param.update(known=self.ticks, last=LONGEST - 1 if self.ticks == LONGEST else None)

    def views(self) -> dict[str, RunView]:
        return {view.timeline.name: view for view in views(self.ticks, self.language)}

    def column(self) -> pn.Column:
        views = [
            self.player,
            self.strip,
            self.timelines,
            self.maps,
            self.backlog,
            self.streams,
            self.log,
            self.quantization,
        ]
        return pn.Column(
            self.runs, self.form, *views, sizing_mode="stretch_width", margin=(0, 12), styles={"gap": "16px"}
        )


def argument(name: str, default: str) -> str:
    values = pn.state.session_args.get(name)
    return values[0].decode() if values else default


TEMPLATE = """
{% block preamble %}<meta name="viewport" content="width=device-width, initial-scale=1">{% endblock %}
{% block contents %}
<style>body { margin: 0; background: var(--paper); color: var(--ink); } main { display: grid; }</style>
<script>if ("THEME" !== "auto") document.documentElement.dataset.theme = "THEME"</script>
<main><h1 style="margin: 0.5rem 12px; font: 600 1.5rem system-ui">Tick Lab</h1><h2 hidden>Harness</h2>
{% for doc in docs %}{% for root in doc.roots %}{{ embed(root) }}{% endfor %}{% endfor %}</main>
{% endblock %}
"""


def app() -> None:
    """One page."""
    language = argument("lang", "en")
    ticks = argument("ticks", "0")
    page = Page(language, argument("locked", "") == "1", LONGEST if ticks == "all" else int(ticks))
    document = pn.state.curdoc
    page.column().server_doc(document)
    document.title = "Components"
    document.template = TEMPLATE.replace("THEME", argument("theme", "auto"))
    PAGES.append(page)


PAGES: list[Page] = []


def serve(port: int, threaded: bool = False) -> Any:
    """Serve the page on ``port``."""
    pn.extension()
    return pn.serve(
        {"page": app}, port=port, show=False, threaded=threaded, admin=False, websocket_origin="*", start=True
    )


if __name__ == "__main__":
    serve(int(sys.argv[1]))
