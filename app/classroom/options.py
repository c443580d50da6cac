"""What may be set, and where it is read from: a flag, else the environment, else a TOML file."""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NoReturn

import msgspec
from msgspec import Meta

from app.settings import ORIGIN, user_data_folder
from engine.words import Catalogue

FILE = "config"  # the one setting that no file can give: which file
HOST = r"^[A-Za-z0-9.\-\[\]:]+$"
URL = r"^(https?://[A-Za-z0-9.\-\[\]:]+(/[A-Za-z0-9._~\-/]*)?)?$"
SITES = rf"^({ORIGIN.pattern}( +{ORIGIN.pattern})*)?$"


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of a class. Each is a flag, an environment variable (TICKLAB_…) and a key of the file."""

    address: Annotated[str, Meta(pattern=HOST)] = "127.0.0.1"
    port: Annotated[int, Meta(ge=1, le=65535)] = 5006
    teacher_address: Annotated[str, Meta(pattern=HOST)] = "127.0.0.1"
    teacher_port: Annotated[int, Meta(ge=0, le=65535)] = 0
    keep_days: Annotated[int, Meta(ge=0, le=3650)] = 0
    data: Annotated[str, Meta(min_length=1)]
    database_url: str = ""
    join_code: Annotated[str, Meta(pattern=r"^([A-Za-z0-9]{4,32})?$")] = ""
    origins: Annotated[str, Meta(pattern=r"^[A-Za-z0-9.\-\[\]:, ]*$")] = ""
    public_url: Annotated[str, Meta(pattern=URL)] = ""
    token_hours: Annotated[float, Meta(gt=0, le=720)] = 12.0
    session_minutes: Annotated[float, Meta(gt=0, le=1440)] = 15.0
    keep_alive_seconds: Annotated[float, Meta(ge=1, le=600)] = 20.0
    message_megabytes: Annotated[float, Meta(ge=0.1, le=20)] = 1.0
    command_seconds: Annotated[float, Meta(gt=0, le=3600)] = 20.0
    warm: bool = True
    keys: str = ""
    prefix: Annotated[str, Meta(pattern=r"^(/[A-Za-z0-9._~\-]+)*$")] = ""
    xheaders: bool = False
    frame_ancestors: Annotated[str, Meta(pattern=SITES)] = ""
    most_sessions: Annotated[int, Meta(ge=1, le=100_000)] = 1500
    metrics: Annotated[str, Meta(pattern=r"^([A-Za-z0-9.\-\[\]:]+:\d{1,5})?$")] = ""
    free_play: bool = True


TYPES: dict[str, Any] = {field.name: field.type for field in msgspec.structs.fields(Options)}


class OptionError(ValueError):
    """A setting that cannot be; the message is one sentence for whoever set it."""


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence, without the usage."""

    def error(self, message: str) -> NoReturn:
        raise OptionError(message)


def variable(name: str) -> str:
    """The environment variable of a setting."""
    return f"TICKLAB_{name.upper()}"


def read_options(arguments: Sequence[str], environment: Mapping[str, str], words: Catalogue) -> Options:
    """The settings. Raises OptionError; ``--help`` prints all of them and exits."""
    defaults = {"data": str(user_data_folder(environment))}
    given = vars(_parser(words, defaults).parse_args(arguments))
    file = given.pop(FILE) or environment.get(variable(FILE))
    values: dict[str, Any] = dict(defaults)
    if file:
        values |= _checked(_from_file(Path(file), words), lambda name: f"{file}: {name}", words)
    found = {name: environment[variable(name)] for name in TYPES if environment.get(variable(name))}
    values |= _checked(found, variable, words)
    flags = {name: value for name, value in given.items() if value is not None}
    values |= _checked(flags, lambda name: f"--{name.replace('_', '-')}", words)
    return Options(**values)


def _parser(words: Catalogue, defaults: Mapping[str, Any]) -> Parser:
    parser = Parser(prog="python -m app", description=words("help.description"), epilog=words("help.epilog"))
    parser.add_argument("--config", metavar="FILE", help=f"{words('option.config')} [TICKLAB_CONFIG]")
    for field in msgspec.structs.fields(Options):
        flag = f"--{field.name.replace('_', '-')}"
        default = defaults.get(field.name, field.default)
        shown = str(default).lower() if isinstance(default, bool) else default
        shown = words("help.unset") if shown == "" else shown
        text = f"{words(f'option.{field.name}')} [{variable(field.name)}; {words('help.default')}: {shown}]"
        if isinstance(default, bool):
            _add_switch(parser, flag, field.name, text)
            continue
        parser.add_argument(flag, metavar=field.name.upper(), help=text.replace("%", "%%"))
    return parser


def _add_switch(parser: Parser, flag: str, name: str, text: str) -> None:
    """``--name``, ``--name false`` and ``--no-name``."""
    parser.add_argument(flag, metavar=name.upper(), nargs="?", const="true", help=text.replace("%", "%%"))
    off = f"--no-{flag.removeprefix('--')}"
    parser.add_argument(off, dest=name, action="store_const", const="false", help=argparse.SUPPRESS)


def _from_file(path: Path, words: Catalogue) -> dict[str, Any]:
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise OptionError(words("wrong.unreadable", file=path, reason=error.strerror)) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise OptionError(words("wrong.toml", file=path, reason=error)) from error
    for name in found:
        if name not in TYPES:
            raise OptionError(words("wrong.unknown", file=path, name=name, names=", ".join(TYPES)))
    return found


def _checked(values: Mapping[str, Any], where: Any, words: Catalogue) -> dict[str, Any]:
    """``values`` as what they have to be; ``where`` says of a name where it was set."""
    checked = {}
    for name, value in values.items():
        try:
            checked[name] = msgspec.convert(value, TYPES[name], strict=False)
        except msgspec.ValidationError as error:
            expected = words(f"expected.{name}")
            raise OptionError(
                words("wrong.value", where=where(name), expected=expected, value=repr(value))
            ) from error
    return checked
