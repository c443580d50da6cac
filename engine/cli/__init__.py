"""The command line: ``python -m engine simulate|run TRACE …`` and ``bench``.

Exit status: 0 done (a refused request is no error of the command), 1 the run stalled, 2 malformed
input: then nothing has run, stdout is empty and stderr has one line that says what, where and what
would be right.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from engine.cli import bench, run, simulate
from engine.cli.flags import language_of, unknown_word
from engine.complaints import of_an_argument
from engine.errors import InputError, Stalled
from engine.words import Catalogue, engine_words

COMMANDS = (simulate, run, bench)


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are InputErrors, and which takes no shortened flags."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(allow_abbrev=False, **settings)

    def error(self, message: str) -> NoReturn:
        name, trouble = of_an_argument(message)
        raise InputError.of("usage", at=(name,) if name else (), trouble=trouble)


def make_parser(words: Catalogue) -> Parser:
    """The parser of every command, its help in the language of ``words``."""
    parser = Parser(prog="python -m engine", description=words("cli.about"), epilog=words("cli.exit"))
    commands = parser.add_subparsers(metavar="COMMAND", parser_class=Parser)
    for command in COMMANDS:
        about = words(f"cli.{command.NAME}")
        flags = commands.add_parser(command.NAME, help=about, description=about, epilog=words("cli.exit"))
        command.add_flags(flags, words)
        flags.set_defaults(execute=command.execute, known=flags)
    return parser


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The options of a call. Raises InputError, also for a flag that does not exist."""
    parser = make_parser(engine_words(language_of(arguments)))
    options, unknown = parser.parse_known_args(arguments)
    if not hasattr(options, "execute"):
        *others, last = (command.NAME for command in COMMANDS)
        raise InputError.of("no_command", at="COMMAND", names=tuple(others), last=last)
    if unknown:
        raise unknown_word(unknown[0], options.known)
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    given = sys.argv[1:] if arguments is None else arguments
    try:
        options = parse(given)
        text = options.execute(options)
    except InputError as error:
        return _fail(error.told(language_of(given)), 2)
    except Stalled as error:
        return _fail(error.told(language_of(given)), 1)
    sys.stdout.write(text)
    return 0


def _fail(text: str, status: int) -> int:
    """One line on stderr, whatever the message holds."""
    sys.stderr.write(f"python -m engine: {' '.join(text.split())}\n")
    return status
