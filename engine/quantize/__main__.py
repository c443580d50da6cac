"""Command line of quantization: `python -m engine.quantize --help`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import torch

from engine.model.weights import BrokenWeights
from engine.quantize.errors import QuantizationError
from engine.quantize.exhibits import smaller_caches, smaller_models
from engine.quantize.formats import FORMATS as KNOWN
from engine.quantize.recorded import FORMATS, RECORDED, load, record, save
from engine.quantize.tables import cache_table, format_table, show

EXAMPLES = """\
examples:
  python -m engine.quantize show                  the committed record as tables
  python -m engine.quantize show --layers int4    with every layer of int4
  python -m engine.quantize exhibits              pruning, the student, 8-bit keys and values, some seconds
  python -m engine.quantize record                measure anew and replace the record, about a minute
"""


def parser() -> argparse.ArgumentParser:
    """The commands and their options."""
    top = argparse.ArgumentParser(
        "python -m engine.quantize",
        description="Compare weight formats on the main trace.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = top.add_subparsers(dest="command", required=True)
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--file", type=Path, default=RECORDED, help="the record (default: the committed one)")
    making = commands.add_parser("record", parents=[common], help="measure and write the record")
    making.add_argument(
        "--formats", nargs="+", choices=KNOWN, default=FORMATS, metavar="FORMAT", help=", ".join(KNOWN)
    )
    making.add_argument("--held-out", type=int, metavar="BYTES", help="held-out text to read (default: all)")
    making.add_argument("--threads", type=int, default=1, help="processor threads (default 1)")
    making.set_defaults(run=_record)
    commands.add_parser("exhibits", help="other ways to be smaller").set_defaults(run=_exhibits)
    showing = commands.add_parser("show", parents=[common], help="print the record as tables")
    showing.add_argument("--layers", choices=KNOWN, metavar="FORMAT", help="also this format's layers")
    showing.set_defaults(run=_show)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return the exit status, 2 with one line on stderr for unusable input."""
    options = parser().parse_args(arguments)
    try:
        command: Callable[[argparse.Namespace], None] = options.run
        command(options)
    except (BrokenWeights, QuantizationError, OSError, msgspec.DecodeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyError as error:
        print(f"error: the record has no format {error}", file=sys.stderr)
        return 2
    return 0


def _record(options: argparse.Namespace) -> None:
    torch.set_num_threads(options.threads)
    recorded = record(options.formats, options.held_out)
    save(recorded, options.file)
    print(show(recorded))


def _exhibits(options: argparse.Namespace) -> None:
    torch.set_num_threads(1)
    print(format_table(smaller_models()), cache_table(smaller_caches()), sep="\n\n")


def _show(options: argparse.Namespace) -> None:
    print(show(load(options.file), options.layers))


if __name__ == "__main__":
    sys.exit(main())
