"""Weight files: what is saved is loaded, and a broken file is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from engine.model.config import DRAFT, TINY, ModelConfig
from engine.model.transformer import build
from engine.model.weights import (
    CHECKSUMS,
    FOLDER,
    BrokenWeights,
    load_preset,
    load_weights,
    read_checked,
    save_weights,
)

SMALL = ModelConfig(width=8, layers=1, query_heads=2, kv_heads=1, head_dim=4, hidden=8)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "small.safetensors"
    save_weights(build(SMALL, 1), path)
    return path


def test_saved_weights_are_loaded_bit_for_bit(saved: Path) -> None:
    loaded = load_weights(saved, SMALL)
    assert not loaded.training
    expected = build(SMALL, 1).state_dict()
    assert all(torch.equal(value, expected[name]) for name, value in loaded.state_dict().items())
    assert not list(saved.parent.glob("*.part"))


def test_a_second_file_keeps_the_first_checksum(saved: Path) -> None:
    save_weights(build(SMALL, 2), saved.with_name("other.safetensors"))
    assert set(json.loads((saved.parent / CHECKSUMS).read_text())) == {
        "small.safetensors",
        "other.safetensors",
    }
    load_weights(saved, SMALL)


def test_a_changed_byte_is_found(saved: Path) -> None:
    content = bytearray(saved.read_bytes())
    content[-1] ^= 1
    saved.write_bytes(content)
    with pytest.raises(BrokenWeights, match=r"small\.safetensors is damaged: sha256 is"):
        load_weights(saved, SMALL)


def test_a_missing_file_is_named(saved: Path) -> None:
    saved.unlink()
    with pytest.raises(BrokenWeights, match=r"small\.safetensors is missing"):
        load_weights(saved, SMALL)


def test_a_file_without_checksum_is_refused(saved: Path) -> None:
    (saved.parent / CHECKSUMS).write_text("{}")
    with pytest.raises(BrokenWeights, match=r"no checksum for small\.safetensors"):
        load_weights(saved, SMALL)


def test_weights_of_another_shape_are_refused(saved: Path) -> None:
    with pytest.raises(BrokenWeights, match=r"small\.safetensors does not fit the model"):
        load_weights(saved, DRAFT)


def test_a_file_that_is_no_safetensors_is_refused(saved: Path) -> None:
    (saved.parent / CHECKSUMS).unlink()
    saved.write_bytes(b"no weights")
    from engine.model.weights import record_checksum

    record_checksum(saved)
    with pytest.raises(BrokenWeights, match=r"small\.safetensors does not fit the model"):
        load_weights(saved, SMALL)


def test_every_committed_file_has_its_checksum() -> None:
    listed = json.loads((FOLDER / CHECKSUMS).read_text())
    present = {path.name for path in FOLDER.iterdir() if path.suffix in (".safetensors", ".txt")}
    assert set(listed) == present
    for name in listed:
        read_checked(FOLDER / name)


def test_presets_have_their_shapes() -> None:
    assert load_preset("tiny").config == TINY
    assert load_preset("draft").config == DRAFT
    with pytest.raises(KeyError):
        load_preset("huge")
