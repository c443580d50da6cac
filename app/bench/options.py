"""What may be asked of the benchmark, with its bounds: a load test that forgets its limits is an attack."""

from __future__ import annotations

import argparse
import ipaddress
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NoReturn
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta

from app.words import choose_language
from engine.words import Catalogue, catalogue

WAYS = ("panel", "class")


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What to measure.

    learners  how many join; seconds  within how many; steps  rounds in which all step at once
    limit     seconds after which everything is broken off
    way       how the server is started: ``panel`` serve app, or ``class``: python -m app
    url       a server of this machine that runs already, instead; ``code`` of its class, if it asks for one
    """

    learners: Annotated[int, Meta(ge=1, le=100)] = 40
    seconds: Annotated[float, Meta(ge=0, le=600)] = 10.0
    steps: Annotated[int, Meta(ge=1, le=100)] = 6
    limit: Annotated[float, Meta(ge=10, le=3600)] = 300.0
    way: Annotated[str, Meta(pattern="^(panel|class)$")] = "panel"
    url: str = ""
    code: Annotated[str, Meta(pattern="^([A-Za-z0-9]{4,32})?$")] = ""
    exercise: Annotated[str, Meta(pattern="^[a-z0-9-]+$")] = "main"
    browser: bool = False
    json: str = ""

    @property
    def page(self) -> str:
        """The address of the learner's page on the server named by ``url``."""
        parts = urlsplit(self.url)
        path = parts.path.rstrip("/")
        return f"http://{parts.netloc}{path if path.endswith('/app') else f'{path}/app'}"


class OptionError(ValueError):
    """An argument that cannot be; the message is one sentence for whoever typed it."""


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence, without the usage."""

    def error(self, message: str) -> NoReturn:
        raise OptionError(message)


def bench_words(environment: Mapping[str, str]) -> Catalogue:
    """The texts, in the language of the terminal."""
    name = environment.get("LC_ALL") or environment.get("LC_MESSAGES") or environment.get("LANG") or ""
    language = choose_language(None, None, name.replace("_", "-").partition(".")[0])
    return catalogue(Path(__file__).parent, language)


def read_options(arguments: Sequence[str] | None, words: Catalogue) -> Options:
    """The options. Raises OptionError; ``--help`` prints them and exits."""
    given = {name: one for name, one in vars(_parser(words).parse_args(arguments)).items() if one is not None}
    for name, value in given.items():
        _check(name, value, words)
    options = msgspec.convert(given, Options, strict=False)
    if options.url and not is_loopback(options.url):
        raise OptionError(words("wrong.url", value=repr(options.url)))
    return options


def _check(name: str, value: Any, words: Catalogue) -> None:
    try:
        msgspec.convert({name: value}, Options, strict=False)
    except msgspec.ValidationError as error:
        sentence = words("wrong.value", name=name, expected=words(f"expected.{name}"), value=repr(value))
        raise OptionError(sentence) from error


def _parser(words: Catalogue) -> Parser:
    parser = Parser(
        prog="python -m app bench", description=words("help.description"), epilog=words("help.epilog")
    )
    for field in msgspec.structs.fields(Options):
        text = words(f"option.{field.name}").replace("%", "%%")
        if field.type is bool:
            parser.add_argument(f"--{field.name}", action="store_true", default=None, help=text)
            continue
        shown = f" [{field.default}]" if field.default != "" else ""
        parser.add_argument(f"--{field.name}", metavar=field.name.upper(), help=text + shown)
    return parser


def is_loopback(url: str) -> bool:
    """Whether ``url`` is plain HTTP to this very machine."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        _ = parts.port  # raises for a port that is none
        local = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
    return parts.scheme == "http" and local and parts.username is None
