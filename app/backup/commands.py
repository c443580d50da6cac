"""``python -m app backup FILE`` and ``python -m app restore FILE``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from app.backup.checking import check
from app.backup.errors import BackupError
from app.backup.restoring import restore
from app.backup.saving import backup
from app.classroom.options import OptionError, Parser, read_options
from app.classroom.starting import check_address, settings_of
from app.classroom.words import terminal_words
from app.journal import cause_of, place_of
from app.settings import Settings
from app.store.database import engine_of
from app.store.errors import StoreError, store_error
from app.words import terminal_language
from engine.words import Catalogue, catalogue

SETTINGS = ("config", "data", "database_url")  # those that find a database
Work = Callable[[Engine, Path], dict[str, int]]


@cache
def backup_words(language: str) -> Catalogue:
    """The texts of these commands. Raises KeyError for an unknown language."""
    return catalogue(Path(__file__).parent, language)


def save(arguments: Sequence[str]) -> int:
    """``backup``: 0 when the file is there, 2 when not, and one sentence has said why."""
    return _carry_out("backup", arguments)


def bring_back(arguments: Sequence[str]) -> int:
    """``restore``: 0 when everything is in the database, 2 when nothing is, and one sentence has said why."""
    return _carry_out("restore", arguments)


def _carry_out(command: str, arguments: Sequence[str]) -> int:
    words = backup_words(terminal_language(os.environ))
    file = Path()
    try:
        file, replace, settings = _read(command, arguments, os.environ, words)
        work: Work = backup if command == "backup" else lambda e, p: restore(e, p, replace=replace)
        counts, place = _worked(command, work, file, settings)
    except BackupError as error:
        return _fail(words(f"wrong.{error.code}", **error.values))
    except OptionError as error:
        return _fail(words(f"wrong.{command}", reason=error))
    except (SQLAlchemyError, StoreError) as error:
        return _fail(words(f"wrong.{command}", reason=cause_of(store_error(error))))
    except OSError as error:
        return _fail(words("wrong.file", file=file, reason=error.strerror or type(error).__name__))
    print(words(f"done.{command}", file=file, place=place, count=sum(counts.values())))
    for name, count in counts.items():
        print(f"  {name:<12} {count:>8}")
    return 0


def _fail(sentence: str) -> int:
    print(sentence, file=sys.stderr)
    return 2


def _worked(command: str, work: Work, file: Path, settings: Settings) -> tuple[dict[str, int], str]:
    """What ``work`` did with ``file`` and the database, and where that is."""
    if command == "restore":
        check(file)  # before even an empty database is made
    elif not settings.database_url and not settings.data.exists():
        raise BackupError("nothing")
    engine = engine_of(settings)
    try:
        return work(engine, file), place_of(engine.url)
    finally:
        engine.dispose()


def _read(
    command: str, arguments: Sequence[str], environment: Mapping[str, str], words: Catalogue
) -> tuple[Path, bool, Settings]:
    """The file, whether rows may be given up, and the settings, found as the server finds them."""
    given: dict[str, Any] = vars(_parser(command, words, environment).parse_args(arguments))
    flags = [f"--{name.replace('_', '-')}={given[name]}" for name in SETTINGS if given[name] is not None]
    options = read_options(flags, environment, terminal_words(environment))
    check_address(options.database_url, terminal_words(environment))
    return Path(given["file"]), bool(given.get("replace")), settings_of(options)


def _parser(command: str, words: Catalogue, environment: Mapping[str, str]) -> Parser:
    parser = Parser(prog=f"python -m app {command}", description=words(f"help.{command}"))
    parser.add_argument("file", metavar="FILE", help=words(f"help.{command}.file"))
    if command == "restore":
        parser.add_argument("--replace", action="store_true", help=words("help.replace"))
    settings = terminal_words(environment)
    for name in SETTINGS:
        text = f"{settings(f'option.{name}')} [TICKLAB_{name.upper()}]"
        parser.add_argument(f"--{name.replace('_', '-')}", metavar=name.upper(), help=text.replace("%", "%%"))
    return parser
