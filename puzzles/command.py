"""The course on the command line: list, show, check, solve, design, and writing the static pages.

Exit status 0 when the command did its work (a wrong answer is its output), 1 when ``static --check``
finds stale pages, 2 with one line on stderr for input that makes no sense.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from engine import InputError
from engine.cli.flags import language_of
from engine.complaints import of_an_argument
from engine.words import LANGUAGES, Phrase
from puzzles import console
from puzzles.design.command import add_design_flags, execute
from puzzles.exercise import Exercise
from puzzles.library import load, names
from puzzles.site import FOLDER, stale, write
from puzzles.words import puzzle_words


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        name, trouble = of_an_argument(message)
        raise InputError(trouble, *([Phrase("place.argument", name=name)] if name else []))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit status."""
    given = sys.argv[1:] if arguments is None else arguments
    try:
        options = parser().parse_args(given)
        command: Callable[[argparse.Namespace], int] = options.run
        return command(options)
    except InputError as error:
        language = language_of(given)
        print(puzzle_words(language)("command.error", text=error.told(language)), file=sys.stderr)
        return 2


def parser() -> Parser:
    """The commands and their options."""
    words = puzzle_words("en")
    top = Parser("python -m puzzles", description=words("command.about"))
    commands = top.add_subparsers(dest="command", required=True, parser_class=Parser)
    common = Parser(add_help=False)
    common.add_argument("--lang", choices=LANGUAGES, default="en", help=words("command.lang"))
    one = Parser(add_help=False, parents=[common])
    one.add_argument("exercise", metavar="EX", help=words("command.exercise"))
    one.add_argument("--seed", type=int, default=0, help=words("command.seed"))
    commands.add_parser("list", parents=[common], help=words("command.list")).set_defaults(run=_list)
    commands.add_parser("show", parents=[one], help=words("command.show")).set_defaults(run=_show)
    commands.add_parser("solve", parents=[one], help=words("command.solve")).set_defaults(run=_solve)
    check = commands.add_parser("check", parents=[one], help=words("command.check"))
    check.add_argument("answers", nargs="+", metavar="FIELD=VALUE", help=words("command.answers"))
    check.set_defaults(run=_check)
    design = commands.add_parser("design", parents=[common], help=words("command.design"))
    add_design_flags(design)
    design.set_defaults(run=_design)
    static = commands.add_parser("static", help=words("command.static"))
    static.add_argument("--check", action="store_true", help=words("command.static.check"))
    static.add_argument("--out", type=Path, default=FOLDER, metavar="DIR", help=words("command.static.out"))
    static.set_defaults(run=_static)
    return top


def _exercise(options: argparse.Namespace) -> Exercise:
    return load(options.exercise).variant(options.seed)


def _list(options: argparse.Namespace) -> int:
    print(console.listing([load(name) for name in names()], options.lang))
    return 0


def _show(options: argparse.Namespace) -> int:
    print(console.question(_exercise(options), options.lang))
    return 0


def _solve(options: argparse.Namespace) -> int:
    print(console.solution(_exercise(options), options.lang))
    return 0


def _check(options: argparse.Namespace) -> int:
    print(console.judgement(_exercise(options), options.answers, options.lang))
    return 0


def _design(options: argparse.Namespace) -> int:
    print(execute(options))
    return 0


def _static(options: argparse.Namespace) -> int:
    """Write the pages, or name those that are stale."""
    if not options.check:
        write(options.out)
        return 0
    wrong = stale(options.out)
    for place in wrong:
        print(place)
    return 1 if wrong else 0
