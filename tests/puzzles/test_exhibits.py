"""The exhibits of the rooms: each has words, a table, figures that follow from the engine or its record."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path

import msgspec
import pytest

from engine import InputError, Service, simulate
from engine.bench import SECTIONS, Bench
from engine.model.config import PRESETS
from engine.model.flops import forward_flops
from engine.model.layout import Chunk
from engine.model.traffic import forward_traffic
from engine.records import to_json
from engine.words import LANGUAGES
from puzzles import puzzle_words
from puzzles.calculator import MODELS
from puzzles.course import course
from puzzles.exhibits import EXHIBITS, exhibit
from puzzles.exhibits.batching import usual
from puzzles.exhibits.compression import CARD, MODEL, SPARE, room
from puzzles.exhibits.journey import STATIONS, stations
from puzzles.exhibits.metrics import rank, rush
from puzzles.exhibits.phases import roof
from puzzles.exhibits.source import FILES, page_of, source_of
from puzzles.exhibits.traces import drawn
from puzzles.measured import PLACE, measured
from puzzles.measured import SECTIONS as READ
from puzzles.site import build
from puzzles.weights_calculator import SIZES, parameters, weight_bytes
from tests.puzzles.html import Page

EVERY = pytest.mark.parametrize("name", sorted(EXHIBITS))
BOTH = pytest.mark.parametrize("language", LANGUAGES)
CHINESE = re.compile(r"[\u4e00-\u9fff]")

NEEDED = {
    "metrics": {"percentiles", "denominators", "tools", "stopped"},
    "batching": {"neighbour", "company"},
    "kv": {"cache", "kv"},
    "phases": {"roofline", "attention", "fusion"},
    "speculation": {"rounds", "guesses"},
    "compression": {"formats", "layers", "large", "caches", "smaller", "weights", "fourteen"},
    "journey": {"journey", "stations"},
}


def test_every_room_has_its_exhibits_and_every_exhibit_its_room() -> None:
    shown = {room.name: set(room.exhibits) for room in course().rooms if room.exhibits}
    assert shown == NEEDED
    assert set().union(*shown.values()) == EXHIBITS.keys()


@EVERY
@BOTH
def test_every_exhibit_has_words_and_tables(name: str, language: str) -> None:
    shown = exhibit(name, language)
    assert shown["title"]
    assert shown["lead"]
    assert shown["tables"]
    for table in shown["tables"]:
        assert str(table).count("<tr>") > 2
        assert str(table).count("<td></td>") == 0
    told = [shown["lead"], *shown["points"], *shown["notes"]]
    assert not any("{" in text for text in told)
    if language == "zh":
        assert all(CHINESE.search(text) for text in [shown["title"], *told])


@EVERY
def test_a_chart_stands_beside_its_table_and_says_what_it_shows(name: str) -> None:
    for chart in exhibit(name, "en")["charts"]:
        page = Page("<!DOCTYPE html>\n" + str(chart))
        assert page.errors == []
        image = page.all("svg")[0]
        assert image["role"] == "img"
        assert (image["aria-labelledby"] or "").split() == page.ids
        assert page.count("title") == page.count("desc") == 1
        assert len("".join(page.text)) > 80


def test_what_an_exercise_asks_is_closed_and_the_rest_is_open() -> None:
    """A closed one tells what an exercise asks: a class sees it only when the teacher opens it."""
    page = Page(build()["en/room-compression.html"])
    names = [one["id"] for one in page.all("summary")]
    found = dict(zip(names, page.all("details"), strict=True))
    assert found.keys() == NEEDED["compression"]
    closed, opened = {"class": "answers"}, {"class": "exhibit", "open": None}
    for name, details in found.items():
        assert details == (closed if exhibit(str(name), "en")["answers"] else opened)
    assert found["formats"] == closed
    assert found["smaller"] == opened


# ---- metrics -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("percent", "count", "place"),
    [(50, 4, 2), (95, 4, 4), (99, 4, 4), (95, 20, 19), (99, 20, 20), (95, 100, 95), (99, 100, 99)],
)
def test_nearest_rank(percent: int, count: int, place: int) -> None:
    assert rank(percent, count) == place


def test_percentiles_are_the_labs_own() -> None:
    table = str(exhibit("percentiles", "en")["tables"][0])
    trace = drawn("percentiles-2", 100, (9, 17), (4, 10), (2, 7))
    for count in (4, 20, 100):
        summary = simulate(trace[:count], Service()).metrics().summary
        for percent in (50, 95, 99):
            value = getattr(summary, f"p{percent}_ttft")
            assert f"{value:.2f} s ({rank(percent, count)} of {count})" in table


def test_four_denominators_give_four_shares() -> None:
    table = str(exhibit("denominators", "en")["tables"][0])
    shares = re.findall(r"(\d+) %", table)
    assert len(set(shares)) == 4
    assert shares == sorted(shares, key=int, reverse=True)  # the lab's is the least flattering


def test_a_better_batcher_looks_worse_after_100_ticks_and_wins_in_the_end() -> None:
    """The companion of item 14."""
    at: dict[tuple[str, bool], tuple[float, int]] = {}
    for policy in ("static", "continuous"):
        for cut in (True, False):
            horizon = Decimal(10) if cut else None
            summary = simulate(rush(), Service(policy=policy), horizon=horizon).metrics().summary
            assert isinstance(summary.mean_e2e, float)
            at[policy, cut] = summary.mean_e2e, summary.finished
            if cut:
                assert summary.ticks == 100
    assert at["continuous", True][0] > at["static", True][0] + 0.1
    assert at["continuous", False][0] < at["static", False][0] - 1
    assert at["continuous", True][1] > at["static", True][1] + 20
    table = str(exhibit("stopped", "en")["tables"][0])
    assert all(f"{mean:.2f} s" in table for mean, _ in at.values())
    assert (at["static", True][1], at["continuous", True][1]) == (40, 71)


# ---- the benchmark's figures -------------------------------------------------------------------


def test_the_committed_figures_are_the_benchmarks() -> None:
    """The file is what ``engine bench --json`` writes; those who read it without torch see the same."""
    whole = msgspec.json.decode(PLACE.read_bytes(), type=Bench)
    assert not whole.quick
    assert {name for name in SECTIONS if getattr(whole, name) is not None} == set(READ)
    for name in READ:
        told = msgspec.json.decode(to_json(getattr(measured(), name)))
        full = msgspec.json.decode(to_json(getattr(whole, name)))
        assert _within(told, full), name
    assert str(Path.home()) not in PLACE.read_text("utf-8")


def _within(part: object, whole: object) -> bool:
    """Whether every figure of ``part`` stands in ``whole`` at the same place."""
    if isinstance(part, dict):
        assert isinstance(whole, dict)
        return all(_within(value, whole[key]) for key, value in part.items())
    if isinstance(part, list):
        assert isinstance(whole, list)
        return len(part) == len(whole) and all(map(_within, part, whole))
    return part == whole


def test_work_and_bytes_of_the_recorded_ticks_are_those_of_the_models() -> None:
    for tick in measured().phases.ticks:
        config = PRESETS[tick.model]
        decode = [Chunk([1], 63, [page]) for page in range(tick.count)]
        chunks = decode if tick.phase == "decode" else [Chunk([1] * tick.count, 0, [0])]
        moved = forward_traffic(config, chunks)
        assert tick.flops == forward_flops(config, chunks)
        assert (tick.weight_bytes, tick.kv_bytes) == (moved.weights, moved.kv_read + moved.kv_written)


def test_batching_moves_decode_to_the_right_and_up() -> None:
    for model in PRESETS.keys() - {"draft"}:
        found = [tick for tick in measured().phases.ticks if (tick.model, tick.phase) == (model, "decode")]
        assert [tick.count for tick in found] == [1, 4, 8, 16]
        assert [tick.intensity for tick in found] == sorted(tick.intensity for tick in found)
        assert found[-1].rate > 2 * found[0].rate


def test_the_roof_bends_where_memory_and_arithmetic_take_equally_long() -> None:
    peaks = measured().phases.peaks
    ridge = peaks.flops / peaks.memory
    assert roof(peaks, ridge) == pytest.approx(peaks.flops)
    assert roof(peaks, ridge / 2) == pytest.approx(peaks.flops / 2)
    assert roof(peaks, 10 * ridge) == peaks.flops
    large = [tick for tick in measured().phases.ticks if tick.model == "large"]
    assert all(tick.rate <= 1.1 * roof(peaks, tick.intensity) for tick in large)  # a measured roof


def test_the_recorded_neighbour_shows_what_the_text_says() -> None:
    found = {row.way: row for row in measured().neighbour}
    assert found["whole"].gap > found["chunks"].gap > found["shared"].gap > usual(found["alone"])
    assert found["whole"].first is not None
    assert found["shared"].first is not None
    assert found["whole"].first < found["shared"].first


def test_recorded_tiles_and_chains_give_the_same_output_with_fewer_bytes() -> None:
    for row in measured().attention:
        assert row.difference < 1e-5
    by_way = {(row.way, row.length): row for row in measured().attention}
    for length in (1024, 2048, 4096):
        whole, tiled = by_way["whole", length], by_way["tiled", length]
        assert (tiled.moved or 0) * 3 < (whole.moved or 0)
        assert (tiled.extra or 0) * 3 < (whole.extra or 0)
    chains = measured().fusion
    for before, after in zip(chains[::2], chains[1::2], strict=True):
        assert (before.fused, after.fused) == (False, True)
        assert after.moved < before.moved
        assert after.extra < before.extra
        assert before.difference < 1e-4


@pytest.mark.parametrize(("content", "words"), [(None, "is missing"), ("{}", "missing required field")])
def test_figures_that_cannot_be_read_are_one_sentence(
    content: str | None, words: str, tmp_path: Path
) -> None:
    place = tmp_path / "measured.json"
    if content is not None:
        place.write_text(content)
    with pytest.raises(InputError, match=words):
        measured(place)


# ---- weights -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SIZES)
def test_parameters_from_the_shape_are_those_its_makers_state(name: str) -> None:
    stated = Decimal(SIZES[name].stated)
    place = Decimal(1).scaleb(int(stated.as_tuple().exponent))
    assert (Decimal(parameters(name)) / 10**9).quantize(place) == stated


def test_bytes_of_weights() -> None:
    assert weight_bytes("llama_3_8b", "fp16") == 2 * parameters("llama_3_8b")
    assert weight_bytes("llama_3_8b", "int8") == parameters("llama_3_8b")
    assert weight_bytes("llama_3_8b", "int4") * 16 == 9 * parameters("llama_3_8b")


def test_14_b_on_16_gb_by_hand() -> None:
    """40 layers, 8 KV heads of 128, K and V, two bytes: 163,840 bytes a token."""
    assert MODELS[MODEL].per_token == 2 * 40 * 8 * 128 * 2 == 163_840
    assert room("fp16", "int8") == room("int8", "int8") == 0
    left = CARD - SPARE - parameters(MODEL) * 9 / 16
    assert room("int4", "fp16") == int(left // 163_840)
    assert room("int4", "int8") == int(left // 81_920)


# ---- journey, source ---------------------------------------------------------------------------


def test_the_journey_names_every_station_in_both_systems() -> None:
    words = puzzle_words("en")
    table = str(exhibit("journey", "en")["tables"][0])
    for name in STATIONS:
        for system in ("vllm", "tensorrt"):
            assert words(f"exhibit.journey.{name}.{system}") in table
    for part in ("RequestQueue", "Scheduler", "KVCacheManager", "Sampler", "IncrementalDetokenizer"):
        assert part in table
    for part in ("CapacityScheduler", "MicroBatchScheduler", "context phase", "generation phase"):
        assert part in table


def test_the_ticks_of_the_journey_are_the_run() -> None:
    """Static: R03 waits in ticks 3 to 11, reads its prompt in 12, decodes in 13 and 14."""
    static, continuous = stations(puzzle_words("en")).sheets
    assert [row[0] for row in static.rows] == [str(tick) for tick in range(3, 15)]
    assert [row[3] for row in static.rows] == ["—"] * 9 + ["1", "2", "3"]
    assert [row[1] for row in continuous.rows] == ["prefill", "decode", "decode"]


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES)
def test_source_is_printed_as_it_is(path: str) -> None:
    page = Page(build()[f"en/{page_of(path)}"])
    assert source_of(path).strip() in "".join(page.text)
    assert source_of(path) == (Path(PLACE).parents[1] / path).read_text("utf-8")


def test_a_file_without_a_page_is_not_linked() -> None:
    with pytest.raises(KeyError):
        page_of("engine/serving/engine.py")
