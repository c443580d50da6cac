"""Weights on disk: safetensors files beside a list of their checksums."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load, save

from engine.model.config import PRESETS, ModelConfig
from engine.model.transformer import Transformer, build

FOLDER = Path(__file__).resolve().parent.parent / "weights"
CHECKSUMS = "checksums.json"


class BrokenWeights(Exception):
    """A weight file is missing, damaged or made for another shape; the message names the file."""


def write_atomically(path: Path, content: bytes) -> None:
    """Replace `path` by `content` so that a reader sees the old file or the new one, never a part."""
    part = path.with_suffix(path.suffix + ".part")
    part.write_bytes(content)
    os.replace(part, path)


def save_weights(model: Transformer, path: Path) -> str:
    """Write the parameters of `model` as safetensors, enter the checksum, return it (sha256, hex)."""
    content = save({name: value.contiguous() for name, value in model.state_dict().items()})
    write_atomically(path, content)
    return record_checksum(path)


def record_checksum(path: Path) -> str:
    """Enter the sha256 of `path` into `checksums.json` beside it and return it."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    table = path.parent / CHECKSUMS
    entries = json.loads(table.read_text("utf-8")) if table.exists() else {}
    entries[path.name] = digest
    write_atomically(table, (json.dumps(dict(sorted(entries.items())), indent=2) + "\n").encode())
    return digest


def read_checked(path: Path) -> bytes:
    """Content of `path`, whose sha256 must be the one in `checksums.json` beside it."""
    try:
        content = path.read_bytes()
        expected = json.loads((path.parent / CHECKSUMS).read_text("utf-8"))[path.name]
    except FileNotFoundError as error:
        raise BrokenWeights(f"{error.filename} is missing") from error
    except (ValueError, KeyError, TypeError) as error:
        raise BrokenWeights(f"{path.parent / CHECKSUMS} has no checksum for {path.name}") from error
    digest = hashlib.sha256(content).hexdigest()
    if digest != expected:
        raise BrokenWeights(f"{path} is damaged: sha256 is {digest[:12]}…, {CHECKSUMS} says {expected[:12]}…")
    return content


def load_weights(path: Path, config: ModelConfig) -> Transformer:
    """The model of shape `config` with the float32 weights in `path`, in evaluation mode.

    Raises `BrokenWeights`, naming the file, when it is missing, damaged or of another shape.
    """
    content = read_checked(path)
    model = Transformer(config)
    try:
        model.load_state_dict(load(content))
    except (SafetensorError, RuntimeError) as error:
        raise BrokenWeights(f"{path} does not fit the model: {error}") from error
    return model.eval()


def load_preset(name: str = "tiny", folder: Path = FOLDER) -> Transformer:
    """The model of a preset: `tiny` and `draft` are trained, `large` is random with seed 0.

    Raises `KeyError` for an unknown name and `BrokenWeights` for an unusable file.
    """
    config = PRESETS[name]
    if name == "large":
        return build(config, seed=0)
    return load_weights(folder / f"{name}.safetensors", config)
