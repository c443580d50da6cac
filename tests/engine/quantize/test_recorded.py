"""The committed record is what a fresh measurement gives, within what processors may differ."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from engine.model.transformer import Transformer
from engine.quantize import FORMATS, Comparison, Recorded, comparison, load_recorded, recorded
from engine.quantize.__main__ import main
from engine.quantize.compare import FormatResult, PromptResult
from engine.quantize.exhibits import cache_modes, smaller_rows
from engine.quantize.kv_cache import MODES
from engine.quantize.tables import aligned, show
from engine.serving.company import invariances
from engine.traces import main_trace

ANEW = "; run python -m engine.quantize record"


@pytest.fixture(scope="module")
def committed() -> Recorded:
    return load_recorded()


def test_the_record_is_of_these_weights(committed: Recorded) -> None:
    assert committed.settings.weights == recorded.weights_checksum(), "other weights" + ANEW
    assert tuple(result.format for result in committed.comparison.formats) == recorded.FORMATS


def test_the_record_is_what_a_fresh_run_gives(committed: Recorded, measured: Comparison) -> None:
    assert committed.comparison.prompts == measured.prompts, "other texts" + ANEW
    for old, new in zip(committed.comparison.formats, measured.formats, strict=True):
        assert_alike(old, new)


def assert_alike(old: FormatResult, new: FormatResult) -> None:
    assert (old.format, old.linear_bytes, old.total_bytes) == (new.format, new.linear_bytes, new.total_bytes)
    assert [layer.part for layer in old.layers] == [layer.part for layer in new.layers]
    # Calibrated levels hang on sums whose last bits differ between processors; the rest does not.
    if not FORMATS[old.format].calibrated:
        for layer, fresh in zip(old.layers, new.layers, strict=True):
            assert (layer.weight_error or 0) == pytest.approx(fresh.weight_error or 0, rel=1e-3)
            assert (layer.output_error or 0) == pytest.approx(fresh.output_error or 0, rel=1e-3)
        for prompt, again in zip(old.prompts, new.prompts, strict=True):
            assert_prompt_alike(prompt, again)


def assert_prompt_alike(old: PromptResult, new: PromptResult) -> None:
    assert old.free == new.free
    for token, again in zip(old.forced, new.forced, strict=True):
        assert (token.token, token.chosen) == (again.token, again.chosen)
        assert token.margin == pytest.approx(again.margin, abs=1e-3)
        assert token.largest == pytest.approx(again.largest, abs=1e-3)
        assert token.mean == pytest.approx(again.mean, abs=1e-3)
        assert token.divergence == pytest.approx(again.divergence, abs=1e-4, rel=1e-2)


@pytest.mark.slow
def test_smaller_models_are_what_a_fresh_run_gives(committed: Recorded, trained: Transformer) -> None:
    fresh = smaller_rows(trained, held_out_bytes=2048)
    assert [one.name for one in committed.smaller] == [one.name for one in fresh]
    for old, new in zip(committed.smaller, fresh, strict=True):
        assert (old.total_bytes, old.sparse_bytes, old.tokens) == (
            new.total_bytes,
            new.sparse_bytes,
            new.tokens,
        )
        assert old.zeros == pytest.approx(new.zeros, abs=1e-4)
        assert (old.largest, old.mean) == pytest.approx((new.largest, new.mean), abs=2e-2)
        assert old.changed == pytest.approx(new.changed, abs=1)  # a close call may fall either way
    assert committed.smaller[0].loss == committed.comparison.of("fp32").held_out.loss
    losses = {one.name: one.loss for one in committed.smaller}
    assert losses["original"] < losses["zero-25"] < losses["zero-50"]
    assert losses["original"] < losses["student"] < losses["units-50"]


def test_caches_are_what_a_fresh_run_gives(committed: Recorded, trained: Transformer) -> None:
    fresh = cache_modes(trained)
    assert [one.mode for one in committed.caches] == list(MODES)
    for old, new in zip(committed.caches, fresh, strict=True):
        assert (old.mode, old.bytes, old.tokens) == (new.mode, new.bytes, new.tokens)
        assert (old.key_error, old.value_error) == pytest.approx((new.key_error, new.value_error), rel=1e-2)
        assert (old.largest, old.mean) == pytest.approx((new.largest, new.mean), rel=5e-2)
    by_mode = {one.mode: one for one in committed.caches}
    assert by_mode["channel"].largest > 2 * by_mode["tensor"].largest  # item 41
    assert by_mode["channel"].value_error == by_mode["tensor"].value_error


def test_company_changes_last_bits_in_fast_mode_and_none_in_exact(
    committed: Recorded, trained: Transformer
) -> None:
    """Item 45, recorded and anew: R01–R03 each alone and together."""
    for rows in (committed.company, invariances(trained, main_trace()[:3])):
        assert [(row.mode, row.id) for row in rows] == list(product(("fast", "exact"), ("R01", "R02", "R03")))
        assert all(row.same_tokens for row in rows)
        for row in rows:
            if row.mode == "exact":
                assert (row.first, row.difference) == (None, 0)
            else:
                assert row.difference < 1e-4 < row.margin
    assert all(row.difference > 0 for row in committed.company if row.mode == "fast")


@pytest.mark.slow
def test_the_recorded_loss_is_that_of_all_held_out_text(committed: Recorded, trained: Transformer) -> None:
    """Of one format; the others are made in the same way, and each takes seconds."""
    fresh = comparison(main_trace()[:1], ["int4"], model=trained, held_out_bytes=None).of("int4").held_out
    old = committed.comparison.of("int4").held_out
    assert (old.scored, old.window, old.stride) == (fresh.scored, fresh.window, fresh.stride)
    assert old.loss == pytest.approx(fresh.loss, abs=1e-4)
    assert old.perplexity == pytest.approx(fresh.perplexity, abs=1e-3)


def test_numbers_are_rounded_to_the_stated_digits(committed: Recorded) -> None:
    for result in committed.comparison.formats:
        for token in result.forced:
            assert token.margin == float(f"{token.margin:.{committed.settings.digits}g}")


def test_a_record_survives_its_file(committed: Recorded, tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    recorded.save(committed, path)
    assert load_recorded(path) == committed
    assert str(Path.home()) not in path.read_text("utf-8")


def test_recording_states_when_where_and_how(
    trained: Transformer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "record.json"
    assert main(["record", "--formats", "int8", "--held-out", "512", "--file", str(path)]) == 0
    made = load_recorded(path)
    assert [result.format for result in made.comparison.formats] == ["int8"]
    assert "cores" in made.processor
    assert [speed.rows for speed in made.speed] == [1, 3, 8]
    assert "nats/byte" in capsys.readouterr().out


def test_show_prints_every_format_request_and_layer(committed: Recorded) -> None:
    text = show(committed, layers="int4")
    named = ("R01", "R04", "blocks.3.mlp.down", "lookup", "max |Δlogit|", "student", "channel", "exact")
    for words in (*recorded.FORMATS, *named):
        assert words in text


def test_columns_are_aligned() -> None:
    table = aligned(("name", "bytes"), [("a", 1000), ("long", None), ("b", 0.5)])
    assert table.splitlines() == ["name  bytes", "a      1,000", "long       -", "b     0.5000"]


@pytest.mark.parametrize(
    ("content", "words"), [(None, "No such file"), ("{}", "missing required field"), ("{", "truncated")]
)
def test_an_unusable_record_is_one_line(
    content: str | None, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "record.json"
    if content is not None:
        path.write_text(content)
    assert main(["show", "--file", str(path)]) == 2
    shown = capsys.readouterr()
    assert shown.err.startswith("error: ")
    assert words in shown.err
    assert shown.err.count("\n") == 1
    assert not shown.out


def test_a_format_that_was_not_recorded_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "--layers", "int4-g128"]) == 2
    assert "no format 'int4-g128'" in capsys.readouterr().err
