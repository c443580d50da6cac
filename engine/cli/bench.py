"""``python -m engine bench``: speed and memory of the torch engine."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from engine.cli.flags import NUMBER, one_of
from engine.errors import InputError
from engine.records import to_json
from engine.words import LANGUAGES, Catalogue

NAME = "bench"
SECTIONS = (
    "memory",
    "serving",
    "huggingface",
    "tick",
    "bandwidth",
    "kv_cache",
    "speculation",
    "prefix",
    "invariance",
    "phases",
    "attention",
    "fusion",
    "neighbour",
)


def add_flags(parser: argparse.ArgumentParser, words: Catalogue) -> None:
    """Which sections, how often, and where the figures go."""
    parser.add_argument(
        "--section", action="append", metavar="NAME", help=words("flag.section", names=", ".join(SECTIONS))
    )
    parser.add_argument("--quick", action="store_true", help=words("flag.quick"))
    parser.add_argument("--repeats", metavar="N", help=words("flag.repeats"))
    parser.add_argument("--threads", default="1", metavar="N", help=words("flag.threads"))
    parser.add_argument("--json", metavar="FILE", help=words("flag.json_file"))
    parser.add_argument("--lang", default=LANGUAGES[0], metavar="|".join(LANGUAGES), help=words("flag.lang"))


def execute(options: argparse.Namespace) -> str:
    """Print every section when it is done; nothing is left to print. Raises InputError."""
    one_of("lang", options.lang, LANGUAGES)
    names = [one_of("section", name, SECTIONS) for name in options.section or ()]
    threads = _whole("threads", options.threads)
    repeats = None if options.repeats is None else _whole("repeats", options.repeats)
    path = None if options.json is None else _writable(Path(options.json))
    found = _measure(options, names, threads, repeats)
    if path is not None:
        path.write_bytes(found + b"\n")
    return ""


def _measure(options: argparse.Namespace, names: list[str], threads: int, repeats: int | None) -> bytes:
    """The results as JSON. Threads are set here, at the edge, once."""
    import torch

    from engine.bench import bench, trained_setting

    torch.set_num_threads(threads)
    return to_json(bench(trained_setting(options.lang, repeats, quick=options.quick), names, _say))


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def _whole(name: str, text: str) -> int:
    if not NUMBER.fullmatch(text) or int(text) < 1:
        raise InputError.of("not_whole", at=f"--{name}", value=repr(text), least=1)
    return int(text)


def _writable(path: Path) -> Path:
    """``path`` if a file can be written there: said before minutes of measuring, not after them."""
    if path.is_dir() or not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise InputError.of("no_folder", at="--json", path=repr(str(path)))
    return path
