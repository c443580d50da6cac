"""The server's side of the components: what they send, what they believe, what they ignore."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from bokeh.document import Document

from app import components
from app.components import PageMaps, Player, PredictionForm, Quantization, Runs, Timelines
from app.components.base import VERSION, LabComponent
from app.components.quantization_figures import quantization_figures
from app.components.quantization_table import figure_tables, quantization_tables
from app.pages.desk import Desk
from tests.components.harness import LONGEST, views

COMPONENTS = [getattr(components, name) for name in components.__all__]
COMPARISON = json.loads(Path(__file__).with_name("comparison.json").read_text())


@pytest.mark.parametrize("component", COMPONENTS, ids=lambda one: one.__name__)
def test_every_param_says_what_it_is(component: type[LabComponent]) -> None:
    own = [name for name in component.param if component.param[name].owner.__module__.startswith("app.")]
    assert [name for name in own if not component.param[name].doc] == []


@pytest.mark.parametrize("component", COMPONENTS, ids=lambda one: one.__name__)
def test_scripts_are_served_by_address(component: type[LabComponent]) -> None:
    address = component._render_esm(server=True)
    assert address.endswith(f"{component._bundle}?v={VERSION}")


@pytest.mark.parametrize("component", COMPONENTS, ids=lambda one: one.__name__)
def test_panel_listens_only_to_what_a_browser_may_write(component: type[LabComponent]) -> None:
    document, one = Document(), component()
    data = one.get_root(document).data
    assert set(data._callbacks) == set(component._from_browser)


@pytest.mark.parametrize(
    ("component", "name", "message"),
    [
        (Desk, "command", {"name": "read"}),
        (Timelines, "asked", {"type": "table", "tick": 3}),
        (PageMaps, "asked", {"type": "table", "tick": 3}),
    ],
)
def test_what_is_asked_for_is_told_once_each_time(component: Any, name: str, message: Any) -> None:
    one, told = component(), []
    one.param.watch(told.append, name)
    for count in (1, 2):
        one._handle_msg(message)
        assert len(told) == count


def test_components_share_the_description_of_their_params() -> None:
    one, other = Player(), Player()
    one.tick = 3
    assert one.param["tick"] is other.param["tick"]
    assert (one.tick, other.tick) == (3, -1)


# ---- the form -------------------------------------------------------------------------------------


def form() -> PredictionForm:
    return PredictionForm(fields=[{"key": "a"}, {"key": "b"}])


def test_a_lock_carries_the_answers() -> None:
    one, locks = form(), []
    one.param.watch(lambda _: locks.append(dict(one.draft)), "lock")
    one._handle_msg({"type": "lock", "draft": {"a": "1", "why": "so", "forged": "x", "b": 3}})
    assert locks == [{"a": "1", "why": "so"}]


@pytest.mark.parametrize("message", [None, "lock", {}, {"type": "else"}, {"type": "lock", "draft": []}])
def test_a_broken_message_brings_no_answer(message: Any) -> None:
    one = form()
    one._handle_msg(message)
    assert one.draft == {}


def test_a_draft_is_taken_again_after_a_lost_connection() -> None:
    one, locks = form(), []
    one.param.watch(locks.append, "lock")
    one._handle_msg({"type": "draft", "draft": {"a": "1"}})
    assert (one.draft, locks) == ({"a": "1"}, [])


def test_what_is_locked_stays() -> None:
    one, locks = form(), []
    one.param.update(locked=True, draft={"a": "1"})
    one.param.watch(locks.append, "lock")
    one._handle_msg({"type": "lock", "draft": {"a": "2"}})
    assert (one.draft, locks) == ({"a": "1"}, [])


# ---- the player -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("enabled", "heard"), [(False, []), (True, ["request_step", "request_end"])])
def test_only_an_open_run_listens(enabled: bool, heard: list[str]) -> None:
    player, events = Player(enabled=enabled), []
    player.param.watch(lambda event: events.append(event.name), ["request_step"])
    player.param.watch(lambda event: events.append(event.name), ["request_end"])
    for message in ({"type": "step"}, {"type": "end"}, {"type": "lock"}, "step", None):
        player._handle_msg(message)
    assert events == heard


@pytest.mark.parametrize(
    ("said", "shown"), [(2, 2), (-1, -1), (3, 0), (-2, 0), ("1", 0), (True, 0), (None, 0)]
)
def test_a_tick_that_is_not_there_is_not_believed(said: Any, shown: int) -> None:
    player = Player(enabled=True, known=3, tick=0)
    player._handle_msg({"type": "tick", "tick": said})
    assert player.tick == shown


def test_the_comparison_too_waits_for_the_lock() -> None:
    one, asked = Quantization(), []
    one.param.watch(asked.append, "asked")
    one._handle_msg({"type": "show"})
    one.enabled = True
    one._handle_msg({"type": "show"})
    assert len(asked) == 1


# ---- the runs -------------------------------------------------------------------------------------


def received(runs: Runs) -> dict[str, Any]:
    message: dict[str, Any] = json.loads(runs.data)
    return message


def plain(value: Any) -> Any:
    """``value`` as it comes out of JSON."""
    return json.loads(msgspec.json.encode(value))


def test_nothing_is_sent_before_there_is_a_run() -> None:
    assert Runs().data == ""


def test_only_new_ticks_are_sent() -> None:
    runs = Runs()
    runs.show(views(3, "en"))
    whole = received(runs)
    assert whole["since"] == 0
    assert whole["runs"] == plain(views(3, "en"))
    runs.show(views(4, "en"))
    part = received(runs)
    assert part["since"] == 3
    for run in part["runs"]:
        assert {cell["tick"] for row in run["timeline"]["rows"] for cell in row["cells"]} == {3}
        assert [frame["tick"] for frame in run["log"]["frames"]] == [3]
        assert len(run["timeline"]["ms"]) == 1
    assert len(runs.data) < len(json.dumps(whole))


def test_parts_put_together_are_the_whole() -> None:
    runs, ticks = Runs(), []
    for count in range(LONGEST + 1):
        runs.show(views(count, "en"))
        ticks.append(received(runs))
    frames = [frame for message in ticks for frame in message["runs"][0]["strip"]["frames"]]
    assert frames == plain(views(LONGEST, "en")[0].strip.frames)


def test_another_language_starts_afresh() -> None:
    runs = Runs()
    runs.show(views(3, "en"))
    runs.show(views(4, "zh"))
    assert received(runs)["since"] == 0


def test_a_browser_that_missed_something_gets_everything() -> None:
    runs = Runs()
    runs.show(views(3, "en"))
    runs.show(views(4, "en"))
    runs._handle_msg({"have": 0})
    assert received(runs)["since"] == 0
    assert len(received(runs)["runs"][0]["log"]["frames"]) == 4


# ---- quantization -----------------------------------------------------------------------------------


def test_who_compares_the_same_sees_the_same_curves_in_their_language() -> None:
    shown = [Quantization(language=language) for language in ("en", "zh", "en")]
    for one in shown:
        one.show(COMPARISON)
    english, chinese, again = (one.figures for one in shown)
    assert english is again
    assert english != chinese
    other = Quantization(language="en")
    other.show(COMPARISON | {"formats": COMPARISON["formats"][:-1]})
    assert len(json.loads(other.figures)) == len(json.loads(english))
    assert other.figures != english


def test_figures_stay_in_the_browser() -> None:
    for figure in quantization_figures(COMPARISON, "en"):
        assert figure.output_backend == "canvas"
        assert type(figure.y_range).__name__ == "Range1d"
        assert figure.html_attributes["role"] == "img"
        assert figure.html_attributes["aria-label"]
        assert len(figure.x_range.factors) in (17, 19)


def test_every_layer_and_token_has_a_mark_of_each_format() -> None:
    for figure in quantization_figures(COMPARISON, "zh"):
        sources = [one.data_source.data for one in figure.renderers if "name" in one.data_source.data]
        assert {source["name"][0] for source in sources} == {"int8", "int4"}
        assert all(len(source["y"]) == len(figure.x_range.factors) for source in sources)
        assert max(max(source["y"]) for source in sources) < figure.y_range.end


def test_tables_count_what_changed() -> None:
    html = quantization_tables(COMPARISON, "en", {"fp32": [4.0, None, 5.0]})
    for text in ("3,276,800", "0.257 ×", "0.141 ×", "0 / 19", "1 / 19", "3 / 19", "R03, token 1", ">4.50<"):
        assert text in html
    assert html.count("<mark>") == sum(
        prompt["free"]["first_difference"] is not None
        for result in COMPARISON["formats"]
        for prompt in result["prompts"]
    )


def test_every_figure_has_its_numbers_as_a_table() -> None:
    layers, tokens = figure_tables(COMPARISON, "en")
    assert layers.count("<tr>") == 1 + 17
    assert tokens.count("<tr>") == 1 + 19
    assert "would choose" in tokens
    assert "block 0 qkv" in layers


def test_what_a_model_says_is_text() -> None:
    comparison = json.loads(json.dumps(COMPARISON))
    comparison["formats"][0]["prompts"][0]["free"]["text"] = "<script>alert(1)</script>"
    assert "<script>" not in quantization_tables(comparison, "en")


def test_asked_for_in_words_of_the_language() -> None:
    one = Quantization(language="zh", enabled=True)
    one.show(COMPARISON)
    assert "线性层字节数" in one.table
    assert len(json.loads(one.figures)) == 2
