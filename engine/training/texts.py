"""The two excerpts that are kept beside the weights, so that nothing needs the corpus to measure."""

from __future__ import annotations

from pathlib import Path

from engine.model.weights import FOLDER, record_checksum, write_atomically
from engine.training.corpus import Corpus

HELD_OUT_FILE = FOLDER / "heldout.txt"
CALIBRATION_FILE = FOLDER / "calibration.txt"

HELD_OUT_BYTES = 49_152
"""Bytes from each held-out play."""

CALIBRATION_BYTES = 4_096
"""Bytes from each work of the calibration text."""

CALIBRATION_WORKS = 16


def held_out_excerpt(corpus: Corpus) -> str:
    """The beginnings of the held-out plays, one after the other."""
    return "".join(text[:HELD_OUT_BYTES] for text in corpus.held_out.values())


def calibration_excerpt(corpus: Corpus) -> str:
    """Text from the middle of evenly spaced training works, for quantization that calibrates."""
    names = list(corpus.training)
    chosen = [names[place * len(names) // CALIBRATION_WORKS] for place in range(CALIBRATION_WORKS)]
    return "".join(_middle(corpus.training[name]) for name in chosen)


def _middle(text: str) -> str:
    first = max(0, (len(text) - CALIBRATION_BYTES) // 2)
    return text[first : first + CALIBRATION_BYTES]


def write_texts(corpus: Corpus, folder: Path = FOLDER) -> list[Path]:
    """Write both excerpts and their checksums into `folder` and return their paths."""
    held_out, calibration = held_out_excerpt(corpus), calibration_excerpt(corpus)
    paths = []
    for name, text in ((HELD_OUT_FILE.name, held_out), (CALIBRATION_FILE.name, calibration)):
        path = folder / name
        write_atomically(path, text.encode("ascii"))
        record_checksum(path)
        paths.append(path)
    return paths
