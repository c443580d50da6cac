"""The flags: every setting of Service under its own name, and those all commands share."""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import msgspec

from engine.cli.figures import setting_text
from engine.errors import InputError
from engine.files.trace_files import TraceFile, load_trace
from engine.service import CHOICES, COUNTS, LIMITS, SETTINGS, SWITCHES, Service
from engine.words import LANGUAGES, Catalogue

NUMBER = re.compile(r"[+-]?[0-9]{1,18}")
TRUTH = {"true": True, "false": False}
RUN_FLAGS = ("horizon", "slo_ttft", "slo_tpot")


def flag(name: str) -> str:
    """The flag of a setting: --max-wait for max_wait."""
    return "--" + name.replace("_", "-")


def add_common_flags(parser: argparse.ArgumentParser, words: Catalogue) -> None:
    """TRACE, the service's settings, horizon and limits, and the form of the output."""
    parser.add_argument("trace", metavar="TRACE", nargs="?", help=words("flag.trace"))
    service = parser.add_argument_group(words("flag.group.service"))
    for field in msgspec.structs.fields(Service):
        _add_setting(service, field.name, field.default, words)
    measures = parser.add_argument_group(words("flag.group.run"))
    for name in RUN_FLAGS:
        measures.add_argument(flag(name), metavar="SECONDS", help=words(f"flag.{name}"))
    output = parser.add_argument_group(words("flag.group.output"))
    output.add_argument("--json", action="store_true", help=words("flag.json"))
    output.add_argument("--summary", action="store_true", help=words("flag.summary"))
    output.add_argument("--chrome-trace", metavar="FILE", help=words("flag.chrome_trace"))
    output.add_argument("--lang", default=LANGUAGES[0], metavar="|".join(LANGUAGES), help=words("flag.lang"))


def _add_setting(group: Any, name: str, default: object, words: Catalogue) -> None:
    text = words(f"flag.{name}") + f" [{setting_text(default)}]"
    group.add_argument(flag(name), metavar=_kind(name), help=text)
    if name in SWITCHES:
        group.add_argument(
            flag(f"no_{name}"), dest=name, action="store_const", const="false", help=argparse.SUPPRESS
        )


def _kind(name: str) -> str:
    """What the flag takes, for the help."""
    if name in CHOICES:
        return "|".join(CHOICES[name])
    if name in SWITCHES:
        return "|".join(TRUTH)
    if name in LIMITS:
        return "N|none"
    return "N" if name in COUNTS else "SECONDS"


def language_of(arguments: Sequence[str]) -> str:
    """The language asked for by --lang, English when there is none (or an unknown one, refused later)."""
    asked = LANGUAGES[0]
    for name, value in pairwise([*arguments, ""]):
        if name == "--lang":
            asked = value
        elif name.startswith("--lang="):
            asked = name.removeprefix("--lang=")
    return asked if asked in LANGUAGES else LANGUAGES[0]


def unknown_word(unknown: str, parser: argparse.ArgumentParser) -> InputError:
    """What to say of a word that no flag and no argument takes."""
    if not unknown.startswith("-"):
        return InputError.of("second_trace", at=unknown)
    known = [name for action in parser._actions for name in action.option_strings]
    near = difflib.get_close_matches(unknown.partition("=")[0], known, n=1)
    if near:
        return InputError.of("flag_like", at=unknown, flag=near[0])
    return InputError.of("no_such_flag", at=unknown)


# ---- from text to values -------------------------------------------------------------------------


def trace_of(options: argparse.Namespace) -> TraceFile:
    """The trace that was named. Raises InputError, also when none was."""
    if not options.trace:
        raise InputError.of("no_trace", at="TRACE")
    return load_trace(options.trace)


def service_of(options: argparse.Namespace) -> Service:
    """The service the flags describe. Raises InputError that names the flag."""
    given = {name: getattr(options, name) for name in SETTINGS if getattr(options, name) is not None}
    with naming_flags():
        return service_from(given)


def service_from(texts: Mapping[str, str]) -> Service:
    """The service of settings as they are typed. Raises InputError that begins with the setting's name."""
    return Service(**{name: _setting(name, text) for name, text in texts.items()})


def _setting(name: str, text: str) -> Any:
    if name in SWITCHES:
        return TRUTH.get(text, text)
    if name in LIMITS and text == "none":
        return None
    if name in COUNTS + LIMITS and NUMBER.fullmatch(text):
        return int(text)
    if name in LIMITS:
        raise InputError.of("not_whole_or_none", at=name, value=repr(text))
    return text


def seconds_or_none(options: argparse.Namespace, name: str) -> str | None:
    """The text of --horizon and the like; none means not given."""
    text: str | None = getattr(options, name)
    return None if text == "none" else text


def one_of(name: str, text: str, allowed: Sequence[str]) -> str:
    """``text`` if it is allowed for the flag ``name``; InputError otherwise."""
    if text not in allowed:
        raise InputError.of("not_one_of", at=flag(name), value=repr(text), allowed=tuple(allowed))
    return text


@contextmanager
def naming_flags() -> Iterator[None]:
    """Inside, an InputError about a setting is told about its flag: “--tick: 0 is not above 0 …”."""
    try:
        yield
    except InputError as error:
        name, *inner = error.places or ("",)
        if isinstance(name, str) and name in (*SETTINGS, *RUN_FLAGS):
            raise InputError(error.what, flag(name), *inner) from None
        raise
