"""Every section runs on small models, gives plain values, and can be read in both languages."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from engine import Request
from engine.bench import (
    SECTIONS,
    Bench,
    Setting,
    attention,
    bandwidth,
    bench,
    fusion,
    huggingface,
    neighbour,
    phases,
    prefix,
    serving,
    speculation,
)
from engine.bench import kv_cache as kv_cache_section
from engine.bench.bench import this_machine
from engine.bench.load import SERVICE, serve
from engine.model.flops import span_flops
from engine.model.transformer import Transformer
from engine.records import to_json
from engine.words import engine_words
from tests.engine.bench.conftest import small_model

pytestmark = pytest.mark.slow


class FakeLlama:
    """Answers as the engine does, except where told otherwise."""

    version = "0.0"
    wrong: tuple[str, ...] = ()

    def __init__(self, model: Transformer) -> None:
        self.model = model

    def serve(self, requests: Sequence[Request], batch: int) -> dict[str, list[int]]:
        found: dict[str, Any] = serve(self.model, SERVICE, requests).tokens()
        for key in self.wrong:
            found[key][1] ^= 1
        return found


@pytest.fixture(autouse=True)
def fake_llama(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface, "Llama", FakeLlama)


@pytest.mark.parametrize("name", SECTIONS)
def test_a_section_is_plain_values_and_text_in_both_languages(name: str, setting: Setting) -> None:
    said: list[str] = []
    result = bench(setting, [name], said.append)
    assert msgspec.json.decode(to_json(result), type=Bench) == result
    assert [section for section in SECTIONS if getattr(result, section) is not None] == [name]
    assert len(said) == 2
    for language in ("en", "zh"):
        text = SECTIONS[name].tell(getattr(result, name), engine_words(language))
        assert text.splitlines()[0] == engine_words(language)(f"bench.title.{name}")
        assert "{" not in text
        assert all(line == line.rstrip() for line in text.splitlines())


def test_the_schema_names_every_section() -> None:
    schema = msgspec.json.schema(Bench)["$defs"]["Bench"]
    assert {*SECTIONS, "machine", "quick", "repeats"} == set(schema["properties"])
    assert schema["required"] == ["machine", "quick", "repeats"]
    assert this_machine().processor


def test_serving_covers_every_policy_in_both_modes(setting: Setting) -> None:
    found = serving.measure(setting)
    ticks = {(row.way, row.exact): row.ticks for row in found.rows}
    assert ticks == {
        (way, exact): count
        for way, count in (("one_by_one", 512), ("static", 146), ("continuous", 96))
        for exact in (False, True)
    }
    assert (found.requests, found.prompt_tokens, found.output_tokens) == (20, 768, 512)


def test_both_orders_meet_the_same_servers(setting: Setting) -> None:
    found = huggingface.measure(setting)
    servers = {
        order: [row.server for row in found.rows if row.order == order] for order in ("mixed", "long_first")
    }
    assert servers["mixed"] == servers["long_first"]
    assert found.agreement == huggingface.Agreement(20, 20, None)


def test_a_differing_token_is_told_with_its_margin(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakeLlama, "wrong", ("R03", "R07"))
    agreement = huggingface.measure(setting).agreement
    assert agreement is not None
    assert agreement.equal == 18
    assert agreement.margin is not None
    assert agreement.margin >= 0


def test_without_transformers_one_sentence_says_so(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(model: Transformer) -> None:
        raise ImportError("transformers")

    monkeypatch.setattr(huggingface, "Llama", missing)
    found = huggingface.measure(setting)
    assert found == huggingface.HuggingFace(None)
    assert len(huggingface.tell(found, setting.words).splitlines()) == 2


def test_flops_with_and_without_the_cache_are_the_analytic_ones(setting: Setting) -> None:
    for step in kv_cache_section.measure(setting):
        config = setting.model.config
        assert step.cached_flops == span_flops(config, step.length - 1, step.length)
        assert step.recomputed_flops == span_flops(config, 0, step.length)


def test_quantized_decode_reads_fewer_bytes(setting: Setting) -> None:
    found = bandwidth.measure(setting)
    sizes = {row.format: row.weight_bytes for row in found.rows}
    assert sizes["int4"] < sizes["int8"] < sizes["fp32"]
    assert [(row.rows, row.format) for row in found.rows] == [
        (rows, format) for rows in (1, 4) for format in ("fp32", "int8", "int4")
    ]


def test_speculation_says_the_same_and_counts_what_was_right(setting: Setting) -> None:
    found = speculation.measure(setting)
    assert [row.k for row in found if row.draft == "none"] == [0, 0]
    for row in found:
        assert len(row.accepted_at) <= row.k
        assert all(0 <= share <= 1 for share in row.accepted_at)
        assert (row.tokens_per_round is None) == (row.draft == "none")
        assert row.tokens_per_round is None or 1 <= row.tokens_per_round <= row.k + 1


def test_without_a_draft_model_the_section_says_so(setting: Setting) -> None:
    bare = Setting(setting.model, None, small_model, setting.words, repeats=1, quick=True)
    found = speculation.measure(bare)
    assert {row.draft for row in found} == {"none", "lookup"}
    assert setting.words("bench.note.no_draft") in speculation.tell(found, setting.words)


def test_the_share_accepted_at_a_place_is_of_those_that_came_so_far() -> None:
    rounds = [(3, 3), (3, 0), (2, 1), (1, 1)]  # guessed, right
    assert speculation.accepted_at(rounds, 4) == [3 / 4, 1 / 2, 1.0]


def test_the_prefix_cache_finds_what_is_shared_and_nothing_else(setting: Setting) -> None:
    found = {(row.load, row.cache): row for row in prefix.measure(setting)}
    assert found["shared", True].found > 0
    assert found["shared", False].found == found["apart", True].found == 0
    assert found["shared", True].ttft_ticks < found["shared", False].ttft_ticks
    assert found["apart", True].timeline == found["apart", False].timeline
    assert all(row.equal for row in found.values())


def test_transformers_is_asked_for_by_name_only_when_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    from engine.bench.llama import Llama

    def refuse(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", refuse)
    with pytest.raises(ImportError, match="transformers"):
        Llama(small_model())


def test_the_neighbour_comes_in_its_tick_and_is_served_as_the_way_says(setting: Setting) -> None:
    found = {row.way: row for row in neighbour.measure(setting)}
    prefills = {way: [tick.prefill for tick in row.ticks[neighbour.ARRIVES :]] for way, row in found.items()}
    assert sum(prefills["alone"]) == 0
    assert prefills["whole"][:2] == [256, 0]
    assert prefills["chunks"][:5] == [64, 64, 64, 64, 0]
    assert prefills["shared"][:9] == [29] * 8 + [24]  # what three decodes leave of 32
    assert {row.ticks[neighbour.ARRIVES].decodes for row in found.values()} == {neighbour.STREAMS}
    assert found["alone"].first is None
    assert all(row.first is not None for way, row in found.items() if way != "alone")


def test_attention_and_fusion_give_the_same_output_either_way(setting: Setting) -> None:
    for row in attention.measure(setting):
        assert row.difference < 1e-5
    for chain in fusion.measure(setting):
        assert chain.difference < 1e-4
    by_way = {(row.length, row.way): row for row in attention.measure(setting)}
    whole, tiled = by_way[1024, "whole"], by_way[1024, "tiled"]
    assert whole.moved is not None
    assert tiled.moved is not None
    assert whole.extra is not None
    assert tiled.extra is not None
    assert tiled.moved < whole.moved / 10
    assert tiled.extra < whole.extra / 5


def test_phases_are_ticks_of_both_models_under_a_roof(setting: Setting) -> None:
    found = phases.measure(setting)
    assert [(tick.model, tick.phase, tick.count) for tick in found.ticks] == [
        (model, phase, count)
        for model in ("tiny", "large")
        for phase, counts in (("decode", phases.DECODES), ("prefill", phases.QUICK_PROMPTS))
        for count in counts
    ]
    assert min(found.peaks.flops, found.peaks.memory, found.peaks.cache) > 0
    assert all(tick.intensity == tick.flops / (tick.weight_bytes + tick.kv_bytes) for tick in found.ticks)
